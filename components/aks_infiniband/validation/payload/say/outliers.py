"""Values that are far from their own crowd: by the median, and the median absolute deviation from it."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import NamedTuple

MODIFIED_Z = 3.5
"""Modified z-score from which a value is an outlier (Iglewicz and Hoaglin, "How to Detect and Handle Outliers",
1993)."""
_OF_A_STANDARD_DEVIATION = 0.6745
"""The median absolute deviation of normal values, as a share of their standard deviation."""


class Crowd(NamedTuple):
    """The middle of some values, and their usual distance from it."""

    middle: float
    deviation: float

    def is_far(self, difference: float, *, share: float, z: float = MODIFIED_Z) -> bool:
        """True if a difference from the middle is more than a share of it, and more than the crowd's own spread."""
        return difference > share * self.middle and _OF_A_STANDARD_DEVIATION * difference > z * self.deviation


def crowd_of(values: Iterable[float]) -> Crowd:
    """The crowd of some values. Raises statistics.StatisticsError for none."""
    every = list(values)
    middle = median(every)
    return Crowd(middle, median(abs(value - middle) for value in every))
