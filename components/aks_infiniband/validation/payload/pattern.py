"""What the ranks of an all-reduce add up: numbers whose sum is known at every position, and is exact."""

from __future__ import annotations

from typing import Any

Positions = Any
"""A number, or a tensor of numbers."""

PERIOD = 1021
"""Period of the test pattern in elements: a prime, so that a block that lands in another's place is seen."""


def own_value(position: Positions, rank: int) -> Positions:
    """What a rank holds at a position, or at each position of a tensor."""
    return position % PERIOD + rank


def expected_sum(position: Positions, ranks: int) -> Positions:
    """The sum of own_value over all ranks.

    A whole number below 2**24 for up to 4096 ranks, so float32 holds it exactly whatever the order of the additions.
    """
    return position % PERIOD * ranks + ranks * (ranks - 1) // 2
