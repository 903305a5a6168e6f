"""`python -m benchmark.pairs`: how often the judgement of pairs is wrong, by simulated figures of pools of 3 to 300.

A pair has what the weaker of its nodes has, times what differs from one measurement to the next. The program prints the
tables of docs/judging.md. The seed is fixed, so every run prints the same.
"""

from collections.abc import Iterator
from random import Random

from aks_infiniband.validation.payload.pairs.judge import PairFigure, judge_pairs
from aks_infiniband.validation.payload.pairs.rounds import rounds_of
from aks_infiniband.validation.payload.say.expectations import PairsPlan

POOLS, SIZES, ROUNDS = 1000, (3, 4, 5, 8, 16, 32, 64, 100, 300), 3
HEALTHY = 482.0
"""GB/s, the middle of 53 healthy pairs of H100 machines, of 480.8 to 484.6 (J. Zhang, NCCL AllReduce Scaling,
2026-03-03)."""
FIELD_DEVIATION = 0.002
"""These 53 span 0.8 %, about four standard deviations."""
PLAN: PairsPlan = {"bytes": 1, "seconds": 1.0, "rounds": ROUNDS, "threshold": None}


def figures(
    draw: Random, nodes: list[str], *, deviation: float, bad: dict[str, float], congested: float
) -> Iterator[PairFigure]:
    """The figures of a pool. bad: what a node lacks. congested: the share of pairs that have half of what they could.

    The deviation is that of nodes, and once more that of measurements.
    """
    able = {node: 1 - abs(draw.gauss(0, deviation)) - bad.get(node, 0.0) for node in nodes}
    for number, pairs in enumerate(rounds_of(nodes, ROUNDS), start=1):
        for pair in pairs:
            share = min(able[node] for node in pair) * (1 + draw.gauss(0, deviation))
            share *= 0.5 if draw.random() < congested else 1.0
            yield {"nodes": list(pair), "round": number, "value": HEALTHY * share, "error": None, "at_fault": []}


def named(draw: Random, count: int, *, deviation: float, lacks: list[float], congested: float = 0.0) -> tuple[int, int]:
    """In how many of the pools every bad node is named, and in how many a good one is."""
    nodes = [f"node-{number}" for number in range(count)]
    right = wrong = 0
    for _ in range(POOLS):
        bad = dict(zip(draw.sample(nodes, len(lacks)), lacks, strict=True))
        made = list(figures(draw, nodes, deviation=deviation, bad=bad, congested=congested))
        blamed = {check["node"] for check in judge_pairs(made, PLAN, nodes) if check["verdict"] in ("warn", "fail")}
        right += bad.keys() <= blamed
        wrong += bool(blamed - bad.keys() - {None})
    return right, wrong


CASES = {
    "healthy, the field's spread": (FIELD_DEVIATION, [], 0.0),
    "healthy, five times the field's spread": (5 * FIELD_DEVIATION, [], 0.0),
    "healthy, 5 % of pairs congested": (FIELD_DEVIATION, [], 0.05),
    "one node at −8 %": (FIELD_DEVIATION, [0.08], 0.0),
    "one node at −6 %, five times the spread": (5 * FIELD_DEVIATION, [0.06], 0.0),
    "one node at −8 %, 5 % of pairs congested": (FIELD_DEVIATION, [0.08], 0.05),
}
"""Deviation, what each bad node lacks, and the share of congested pairs."""


def rows() -> Iterator[str]:
    """The table, a row for each case."""
    yield "| pool | " + " | ".join(f"{size}" for size in SIZES) + " |"
    yield "|---|" + "---|" * len(SIZES)
    for name, (deviation, lacks, congested) in CASES.items():
        draw, cells = Random(f"{name} {ROUNDS}"), []  # noqa: S311  (figures, no secret)
        for size in SIZES:
            right, wrong = named(draw, size, deviation=deviation, lacks=lacks, congested=congested)
            cells.append(f"{right} / {wrong}" if lacks else f"{wrong}")
        yield f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    print("\n".join(rows()))
