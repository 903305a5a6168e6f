"""`python -m benchmark.gpus`: how often the judgement of GPUs under load is wrong, by simulated figures of whole pools.

It prints the table of docs/judging.md. The seed is fixed, so every run prints the same. Healthy GPUs differ at
random and independently; NVML tells nothing of them, so only the other GPUs of the pool judge their rates.
"""

from collections.abc import Iterator, Sequence
from random import Random

from aks_infiniband.validation.payload.gpus.judge import judge_gpus
from aks_infiniband.validation.payload.gpus.results import Gpu, NodeGpus
from aks_infiniband.validation.payload.say.expectations import GpusPlan
from aks_infiniband.validation.payload.say.steadiness import Spread

POOLS, SIZES, GPUS = 1000, (2, 4, 16, 100), 8
PLAN: GpusPlan = {"count": GPUS, "seconds": 6.0}
RATE, COPY, PEER = 683.0, 55.1, 390.4
"""TFLOP/s and GB/s of an H100 (docs/measurements.md)."""
_ALIKE, _UNLIKE = 0.009, 0.034
"""By what the rates of two H100 of one host differed, 0.9 % on one and 3.3 % on another; and the standard deviation of
one's windows of products, 3.4 % (docs/measurements.md)."""
_COPIES = 0.02
"""Of copies, twenty times what they differed by there, because eight GPUs share a host's memory."""


def gpu_of(number: int, *, rate: float, copy: float = COPY) -> Gpu:
    """One GPU of which NVML tells nothing, with these medians."""
    return {
        "number": number,
        "index": number,
        "pci": f"{number + 1:04x}:00:00.0",
        "uuid": None,
        "said": [],
        "problem": None,
        "to_host": _spread(copy),
        "from_host": _spread(copy),
        "to_peer": _spread(PEER),
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


def pool_of(draw: Random, nodes: int, *, deviation: float, lacks: Sequence[float] = ()) -> list[NodeGpus]:
    """A pool whose first GPUs lack so much of their rates."""
    made: list[NodeGpus] = []
    missing = iter(lacks)
    for node in range(nodes):
        gpus = [
            gpu_of(
                number,
                rate=RATE * (1 + draw.gauss(0, deviation)) * (1 - next(missing, 0.0)),
                copy=COPY * (1 + draw.gauss(0, _COPIES)),
            )
            for number in range(GPUS)
        ]
        made.append({"node": f"node-{node}", "seconds": 10.0, "gpus": gpus})
    return made


def named(draw: Random, nodes: int, *, deviation: float, lacks: Sequence[float], pools: int = POOLS) -> tuple[int, int]:
    """In how many of the pools every bad GPU is named, and in how many a good one is."""
    bad = {("node-0", f"GPU {number} at {number + 1:04x}:00:00.0") for number in range(len(lacks))}
    names = [f"node-{node}" for node in range(nodes)]
    found = wrong = 0
    for _ in range(pools):
        checks = judge_gpus([pool_of(draw, nodes, deviation=deviation, lacks=lacks)], PLAN, names)
        blamed = {(check["node"], check["device"]) for check in checks if check["verdict"] in ("warn", "fail")}
        found += bad <= blamed
        wrong += bool(blamed - bad)
    return found, wrong


CASES: dict[str, tuple[float, tuple[float, ...]]] = {
    "healthy, GPUs differ by 0.9 %": (_ALIKE, ()),
    "healthy, GPUs differ by 3.4 %": (_UNLIKE, ()),
    "one GPU at −10 %, 0.9 %": (_ALIKE, (0.1,)),
    "one GPU at −20 %, 3.4 %": (_UNLIKE, (0.2,)),
    "one GPU at −33 %, 3.4 %": (_UNLIKE, (0.33,)),
    "four GPUs at −50 %, 3.4 %": (_UNLIKE, (0.5,) * 4),
}
"""The standard deviation of healthy GPUs, and what each bad GPU lacks."""


def rows() -> Iterator[str]:
    """The table, a row for each case."""
    yield "| nodes of 8 GPUs | " + " | ".join(f"{size}" for size in SIZES) + " |"
    yield "|---|" + "---|" * len(SIZES)
    for name, (deviation, lacks) in CASES.items():
        draw, cells = Random(name), []  # noqa: S311  (figures, no secret)
        for size in SIZES:
            found, wrong = named(draw, size, deviation=deviation, lacks=lacks)
            cells.append(f"{found} / {wrong}" if lacks else f"{wrong}")
        yield f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    print("\n".join(rows()))
