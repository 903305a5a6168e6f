"""The steadiness of a figure: the spread between its repetitions, and the causes of a wide one and a narrow one."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median, pstdev
from typing import TypedDict

WIDE = 2.0
"""The most is so many times the least: two to three times is what congestion does, while a setting keeps a figure
steadily low (J. Zhang, NCCL AllReduce Scaling, 2026-03-03)."""


STEADY = 0.05
"""The standard deviation of what is steady is at most this share of the median. Windows of products on healthy GPUs at
their limit of power have up to 4.2 %, copies of a GPU that copies alone on a quiet host up to 2.6 %; of copies that
share a host's memory with others' it is 12 to 36 % (benchmark/results/gpus.yaml)."""


_LEAST_COUNT = 2
"""One repetition says nothing about the others."""


class Spread(TypedDict):
    """The repetitions of one measurement; the deviation is the standard deviation as a share of the median."""

    median: float
    least: float
    most: float
    deviation: float
    count: int


def spread_of(values: Sequence[float]) -> Spread | None:
    """The spread of some figures; None of none."""
    if not values:
        return None
    middle = median(values)
    spread: Spread = {
        "median": _short(middle),
        "least": _short(min(values)),
        "most": _short(max(values)),
        "deviation": round(pstdev(values) / middle, 4) if middle else 0.0,
        "count": len(values),
    }
    return spread


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def is_steady(spread: Spread | None) -> bool:
    """True if repetitions are so much alike that nothing came and went while they were made."""
    return spread is not None and spread["count"] >= _LEAST_COUNT and spread["deviation"] <= STEADY


def is_wide(spread: Spread | None) -> bool:
    """True if repetitions differ so widely that something comes and goes."""
    return spread is not None and spread["most"] >= WIDE * spread["least"]


def shown(spread: Spread | None) -> str:
    """A spread next to its figure, such as `659 to 783 in 68 repetitions, deviation 3.4 %`; empty without one."""
    if spread is None or spread["count"] < _LEAST_COUNT:
        return ""
    ends = f"{spread['least']:g} to {spread['most']:g}"
    return f"{ends} in {spread['count']} repetitions, deviation {spread['deviation']:.1%}"


def pointing(spread: Spread | None, *, steady: str, wide: str) -> str:
    """The likely cause of a low figure, in words: by the difference of its repetitions. Empty without a spread."""
    if spread is None or spread["count"] < _LEAST_COUNT:
        return ""
    if is_steady(spread):
        return f"it is steadily low ({shown(spread)}): {steady}"
    if is_wide(spread):
        times = spread["most"] / spread["least"] if spread["least"] else float("inf")
        return f"its repetitions differ {times:.1f} times ({shown(spread)}): {wide}"
    return f"it is low and not steady ({shown(spread)}), which is either of two: {steady}; or {wide}"
