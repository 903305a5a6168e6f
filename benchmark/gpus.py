"""`python -m benchmark.gpus`: how often the judgement of GPUs under load is wrong, by simulated figures of whole pools.

The program prints the table of docs/judging.md. The seed is fixed, so every run prints the same. Healthy GPUs differ at
random and independently; NVML reports nothing of them, so only the other GPUs of the pool judge their rates.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import yaml
from aks_infiniband.validation.payload.gpus.judge import NAMES, judge_gpus
from aks_infiniband.validation.payload.gpus.results import Gpu, NodeGpus
from aks_infiniband.validation.payload.say.expectations import GpusPlan
from aks_infiniband.validation.payload.say.steadiness import Spread

POOLS, SIZES, GPUS = 1000, (2, 4, 16, 100, 300), 8
PLAN: GpusPlan = {"count": GPUS, "seconds": 6.0}
RATE, COPY, PEER = 683.0, 55.1, 390.4
"""TFLOP/s and GB/s of an H100 (docs/measurements.md)."""
_ALIKE, _UNLIKE = 0.009, 0.034
"""By what the rates of two H100 of one host differed, 0.9 % on one and 3.3 % on another; and the standard deviation of
one's windows of products, 3.4 % (docs/measurements.md)."""
_AS_RECORDED = 0.013
"""Rates of H100 on all recorded hosts were 664 to 694 TFLOP/s, 4.4 %: about four standard deviations."""
RECORDED: Any = yaml.safe_load((Path(__file__).parent / "results" / "gpus.yaml").read_text(encoding="utf-8"))
_SHARED = next(host for host in RECORDED["copies"] if host["at_once"] == 1 and not host["quiet"])
"""The host whose healthy GPUs differed most in their copies, each alone: other work used its memory, too."""
_PEERS = 0.005
"""Spread of copies between GPUs: 390.3 to 394.3 GB/s on one host."""


def gpu_of(
    number: int, *, rate: float, to_host: Spread | None = None, from_host: Spread | None = None, peer: float = PEER
) -> Gpu:
    """One GPU without NVML's facts, with these medians."""
    return {
        "number": number,
        "index": number,
        "pci": f"{number + 1:04x}:00:00.0",
        "uuid": None,
        "said": [],
        "problem": None,
        "to_host": to_host or _spread(COPY),
        "from_host": from_host or _spread(COPY),
        "to_peer": _spread(peer),
        "load": {
            "seconds": 6.0,
            "precision": "bfloat16",
            "order": 8192,
            "rate": _spread(rate),
            "begin": rate,
            "end": rate,
            "power": None,
            "power_limit": None,
            "sm_clock": None,
            "most_sm_clock": None,
            "memory_clock": None,
            "temperature": None,
            "reasons": {},
        },
    }


def _spread(value: float) -> Spread:
    return {"median": value, "least": value * 0.92, "most": value * 1.05, "deviation": 0.03, "count": 27}


def _recorded(draw: Random, direction: str) -> Spread:
    """The better of two recorded series, as the payload takes it."""
    made = [draw.choice(_SHARED[direction]) for _ in range(2)]
    middle, *deviation = max(made)
    share = deviation[0] / 100 if deviation else 0.003
    return {
        "median": middle,
        "least": middle * (1 - share),
        "most": middle * (1 + share),
        "deviation": share,
        "count": 8,
    }


def pool_of(draw: Random, nodes: int, *, deviation: float, lacks: Sequence[float] = ()) -> list[NodeGpus]:
    """A pool whose first GPUs lack so much of their rates."""
    made: list[NodeGpus] = []
    missing = iter(lacks)
    for node in range(nodes):
        gpus = [
            gpu_of(
                number,
                rate=RATE * (1 + draw.gauss(0, deviation)) * (1 - next(missing, 0.0)),
                to_host=_recorded(draw, "to_host"),
                from_host=_recorded(draw, "from_host"),
                peer=PEER * (1 + draw.gauss(0, _PEERS)),
            )
            for number in range(GPUS)
        ]
        made.append({"node": f"node-{node}", "seconds": 10.0, "gpus": gpus})
    return made


def named(draw: Random, nodes: int, *, deviation: float, lacks: Sequence[float], pools: int = POOLS) -> tuple[int, int]:
    """In how many of the pools every bad GPU is named, and in how many a good one is."""
    bad = {("node-0", f"GPU {number} at {number + 1:04x}:00:00.0") for number in range(len(lacks))}
    names = [f"node-{node}" for node in range(nodes)]
    right = wrong = 0
    for _ in range(pools):
        checks = judge_gpus([pool_of(draw, nodes, deviation=deviation, lacks=lacks)], PLAN, names)
        blamed = {(check["node"], check["device"]) for check in checks if check["verdict"] in ("warn", "fail")}
        right += bad <= blamed
        wrong += bool(blamed - bad)
    return right, wrong


CASES: dict[str, tuple[float, tuple[float, ...]]] = {
    "healthy, GPUs differ by 0.9 %": (_ALIKE, ()),
    "healthy, GPUs differ by 3.4 %": (_UNLIKE, ()),
    "one GPU at −10 %, 0.9 %": (_ALIKE, (0.1,)),
    "one GPU at −20 %, 3.4 %": (_UNLIKE, (0.2,)),
    "one GPU at −33 %, 3.4 %": (_UNLIKE, (0.33,)),
    "four GPUs at −50 %, 3.4 %": (_UNLIKE, (0.5,) * 4),
}
"""The standard deviation of healthy GPUs, and what each bad GPU lacks."""


def alarms() -> Iterator[str]:
    """The number of healthy pools that have each check as a warning or a failure, a row for each check."""
    counts = {(name, size): 0 for name in NAMES for size in SIZES}
    for size in SIZES:
        draw, nodes = Random(f"healthy {size}"), [f"node-{node}" for node in range(size)]  # noqa: S311  (figures)
        for _ in range(POOLS):
            checks = judge_gpus([pool_of(draw, size, deviation=_AS_RECORDED)], PLAN, nodes)
            for name in {check["check"] for check in checks if check["verdict"] in ("warn", "fail")}:
                counts[name, size] += 1
    yield "| healthy nodes of 8 GPUs, as recorded | " + " | ".join(f"{size}" for size in SIZES) + " |"
    yield "|---|" + "---|" * len(SIZES)
    for name in NAMES:
        yield f"| `{name}` | {' | '.join(str(counts[name, size]) for size in SIZES)} |"


def rows() -> Iterator[str]:
    """The table, a row for each case."""
    yield "| nodes of 8 GPUs | " + " | ".join(f"{size}" for size in SIZES) + " |"
    yield "|---|" + "---|" * len(SIZES)
    for name, (deviation, lacks) in CASES.items():
        draw, cells = Random(name), []  # noqa: S311  (figures, no secret)
        for size in SIZES:
            right, wrong = named(draw, size, deviation=deviation, lacks=lacks)
            cells.append(f"{right} / {wrong}" if lacks else f"{wrong}")
        yield f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    print("\n".join(alarms()), flush=True)
    print("\n".join(rows()))
