"""The figures of the all-reduce against their thresholds: bus bandwidth, and the time of ten small ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .checks import Check, Threshold, limit_of, make_check, not_measured, verdict_on
from .collective_figures import SMALL_REPEATS
from .nccl_log import INFINIBAND_STAGED, PEER_TO_PEER, SOCKETS
from .rendering import shown_bytes

_UNITS = {"all-reduce": "GB/s", "all-reduce-small": "s"}


def judge_bandwidth(run: Mapping[str, Any], expected: Mapping[str, Any]) -> list[Check]:
    """Bus bandwidth against the threshold of the transport that was used, and the time of ten small ones."""
    kind = "nvlink" if run["transport"] == PEER_TO_PEER else "infiniband"
    bound = expected["thresholds"].get(kind)
    checks = [_busbw(run, bound)]
    if run["small"] is not None:
        limit = expected["small"]
        checks.append(_judged("all-reduce-small", run["small"]["seconds"], limit, f"{SMALL_REPEATS} × 4 MiB", run))
    return checks


def _busbw(run: Mapping[str, Any], bound: Threshold | None) -> Check:
    found = judged_size(run["sizes"], bound)
    if found is None:
        asked = bound["fail"] if bound else None
        cause = run["stopped"] or "the run did not come to the size that is judged"
        return not_measured("all-reduce", cause, expected=asked)
    return _judged("all-reduce", found["bus_gb_per_s"], bound, f"{shown_bytes(found['bytes'])}, ring", run)


def judged_size(sizes: Sequence[Mapping[str, Any]], bound: Threshold | None) -> Mapping[str, Any] | None:
    """The size at which bandwidth is judged: the threshold's own, or the largest where it has none."""
    if bound is not None and bound.get("message_bytes"):
        return next((size for size in sizes if size["bytes"] == bound["message_bytes"]), None)
    return max(sizes, key=lambda size: int(size["bytes"]), default=None)


def _judged(name: str, value: float, bound: Threshold | None, what: str, run: Mapping[str, Any]) -> Check:
    """One figure against its bound; without one it is measured and not judged."""
    verdict = verdict_on(value, bound)
    return make_check(
        name,
        verdict,
        expected=bound and limit_of(bound, what, level="warn" if verdict == "warn" else "fail"),
        measured=float(f"{value:.4g}"),
        unit=_UNITS[name],
        threshold=bound,
        tries=run.get("tries") if name == "all-reduce" else None,
        cause=_slow_cause(run) if verdict in ("fail", "warn") else None,
    )


def _slow_cause(run: Mapping[str, Any]) -> str:
    if run["transport"] in (SOCKETS, INFINIBAND_STAGED):
        return f"it went over {run['transport']}: see collective-transport"
    return (
        "where RDMA between the nodes is as fast as promised, NCCL does not use it well: no topology file, GPUs and "
        "HCAs paired across NUMA nodes, or PCI relaxed ordering off; where it is not, the slow HCA is the cause"
    )
