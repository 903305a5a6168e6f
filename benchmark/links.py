"""`python -m benchmark.links`: how often a healthy pool is accused by the limits of its links, by simulated figures.

The program prints the table of docs/judging.md. A pool has one of the levels that were recorded of pools that Azure
accepted; its HCAs and their measurements differ from it as 53 pairs of healthy H100 machines differed. The seed is
fixed, so every run prints the same.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, Final, cast

import yaml
from aks_infiniband import SIZES
from aks_infiniband.facts.baselines.choice import thresholds
from aks_infiniband.validation.payload.say.expectations import Threshold, verdict_on

from benchmark.pairs import FIELD_DEVIATION, POOLS

NODES: Final = (2, 4, 16, 100, 300)
TRIES: Final = 3
"""Measurements of an HCA that falls short; the best one counts (docs/judging.md)."""
_RECORDED: Final = Path(__file__).parents[1] / "tests" / "field_recordings" / "measurements.yaml"
FIGURES: Final = ("rdma-write-bandwidth", "rdma-read-latency")
"""Figures of which accepted pools are recorded. The limits of reads are those of writes."""


def recorded() -> Iterator[Mapping[str, Any]]:
    """The pools that Azure accepted, each with its size and figures."""
    every: list[dict[str, Any]] = yaml.safe_load(_RECORDED.read_text(encoding="utf-8"))
    yield from next(one for one in every if one["name"] == "accepted-by-azure")["figures"]


def levels(figure: str) -> dict[str, list[float]]:
    """The values of a figure in accepted pools, by machine size."""
    values: dict[str, list[float]] = {}
    for pool in recorded():
        if figure in pool:
            values.setdefault(pool["size"], []).append(float(pool[figure]))
    return values


def accused(draw: Random, bound: Threshold, level: list[float], ends: int) -> bool:
    """True if a healthy pool with so many HCAs gets a warning or a failure."""
    middle = draw.choice(level)
    for _ in range(ends):
        own = middle * (1 + draw.gauss(0, FIELD_DEVIATION))
        for _ in range(TRIES):
            if verdict_on(own * (1 + draw.gauss(0, FIELD_DEVIATION)), bound) == "pass":
                break
        else:
            return True
    return False


def rows() -> Iterator[str]:
    """The table, a row for each figure and size."""
    yield f"| healthy nodes, as recorded | {' | '.join(map(str, NODES))} |"
    yield "|---|" + "---|" * len(NODES)
    for figure in FIGURES:
        for size, level in levels(figure).items():
            bound = cast("Threshold", thresholds(SIZES[size], [figure])[figure])
            ends = SIZES[size].infiniband.hca_count
            draw = Random(f"{figure} {size}")  # noqa: S311  (figures, no secret)
            cells = [str(sum(accused(draw, bound, level, count * ends) for _ in range(POOLS))) for count in NODES]
            said = " or ".join(f"{value:g}" for value in sorted(level))
            yield f"| `{figure}`, {size.removeprefix('Standard_')} at {said} {bound['unit']} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    print("\n".join(rows()))


if __name__ == "__main__":
    main()
