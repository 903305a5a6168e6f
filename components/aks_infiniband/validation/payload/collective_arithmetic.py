"""Bandwidth of an all-reduce, and how much of it is measured: arithmetic only."""

from __future__ import annotations

from typing import Any

Positions = Any
"""A number, or a tensor of numbers."""

ELEMENT_BYTES = 4
"""Of float32, in which sums are made."""

PERIOD = 1021
"""Period of the test pattern in elements: a prime, so that a block that lands in another's place is seen."""

_TELLING_BYTES = 1 << 20
_POOR_RATE = 1e8
"""Bytes a second: TCP over 1 Gb/s."""

SMALL_BYTES = 4 << 20
SMALL_REPEATS = 10
"""1 Mi floats, ten times: by what the AKS InfiniBand guide tells InfiniBand from IPoIB (tests/expected-output.md)."""


def elements(size_bytes: int) -> int:
    """How many elements a message of this size has; one at the least."""
    return max(1, size_bytes // ELEMENT_BYTES)


def algorithm_bandwidth(size_bytes: int, seconds: float) -> float:
    """Message size over time, in GB/s (10**9 bytes a second)."""
    return size_bytes / seconds / 1e9


def bus_bandwidth(size_bytes: int, seconds: float, ranks: int) -> float:
    """What each rank's link has to carry, in GB/s: algorithm bandwidth times 2(n-1)/n (nccl-tests, PERFORMANCE.md)."""
    return algorithm_bandwidth(size_bytes, seconds) * 2 * (ranks - 1) / ranks


def own_value(position: Positions, rank: int) -> Positions:
    """What a rank holds at a position, or at each position of a tensor."""
    return position % PERIOD + rank


def expected_sum(position: Positions, ranks: int) -> Positions:
    """The sum of own_value over all ranks.

    A whole number below 2**24 for up to 4096 ranks, so float32 holds it exactly whatever the order of the additions.
    """
    return position % PERIOD * ranks + ranks * (ranks - 1) // 2


def repeats(once_seconds: float, *, iterations: int, warmup: int, budget_seconds: float) -> tuple[int, int]:
    """Warm-up and timed iterations of one size: fewer where one takes so long that the budget would be passed.

    At the least one to warm up and three to time.
    """
    affordable = int(budget_seconds / once_seconds) if once_seconds > 0 else iterations + warmup
    warm = max(1, min(warmup, affordable // 4))
    return warm, max(3, min(iterations, affordable - warm))


def foreseen_seconds(size_bytes: int, last_bytes: int, last_seconds: float) -> float:
    """About how long one all-reduce takes, from a smaller one.

    The time of a small message is all latency and tells no rate, so a poor one is assumed.
    """
    rate = last_bytes / last_seconds if last_bytes >= _TELLING_BYTES else _POOR_RATE
    return last_seconds + (size_bytes - last_bytes) / rate
