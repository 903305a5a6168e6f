"""Runs of the all-reduce for tests, and how they are judged."""

from typing import Any

from aks_infiniband.validation.payload.collective import nccl_log
from aks_infiniband.validation.payload.collective.failures import explained
from aks_infiniband.validation.payload.collective.judge import judge_collective

GIB = 1 << 30
NODES = ["aks-a", "aks-b"]
ADDRESSES = {"10.244.0.1": "aks-a", "10.244.0.2": "aks-b", "10.244.0.3": "aks-c"}
BOUND = {
    "unit": "GB/s",
    "better": "higher",
    "message_bytes": 8 * GIB,
    "warn": 185.0,
    "fail": 180.0,
    "basis": "measured",
    "source": "the guide",
}
SMALL = {"unit": "s", "better": "lower", "message_bytes": 4 << 20, "warn": None, "fail": 0.006, "basis": "measured"}
EXPECTED: Any = {
    "hcas": 8,
    "transport": nccl_log.INFINIBAND_DIRECT,
    "thresholds": {"infiniband": BOUND, "nvlink": None},
    "small": {**SMALL, "source": "the guide"},
}


def run(tuning: str = "ring", **changes: Any) -> Any:
    """A run in which all went well."""
    devices = [f"mlx5_ib{number}" for number in range(8)]
    sizes = [{"bytes": size, "bus_gb_per_s": 187.0} for size in (GIB, 8 * GIB)]
    return {
        "tuning": tuning,
        "nodes": NODES,
        "ranks": 16,
        "ranks_per_node": 8,
        "transport": nccl_log.INFINIBAND_DIRECT,
        "transports": dict.fromkeys(NODES, nccl_log.INFINIBAND_DIRECT),
        "devices": dict.fromkeys(NODES, devices),
        "evidence": {"library": None, "gpu_direct": {"nvidia-peermem": 16}, "dma_buf": False, "hcas_direct": True},
        "sizes": sizes,
        "small": {"bytes": 4 << 20, "repeats": 10, "seconds": 0.0052},
        "stopped": None,
        "wrong": [],
        "failures": [],
        **changes,
    }


def judged(ring: Any, expected: Any = EXPECTED) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for check in judge_collective({"runs": [ring, run("nccl")]}, expected):
        found.setdefault(check["check"], []).append(check)
    return found


def failure(output: str | None = None, **changes: Any) -> Any:
    base = {"node": "aks-b", "gpu": 3, "rank": 11, "own": True, "reached_bytes": 8, "output": output}
    given = {**base, "reason": "ended with exit code 1", **changes}
    return {**given, **explained(given["reason"], own=given["own"], output=given["output"])}
