"""Rounds of pairs, in each of which a node has one partner at most: pure functions."""

from __future__ import annotations

from collections.abc import Sequence

LEAST_NODES = 3
"""The least number of nodes. With two, nothing distinguishes a bad node from its partner."""


def rounds_of(nodes: Sequence[str], count: int) -> list[list[tuple[str, str]]]:
    """At most this many rounds, made by the circle method: no node meets the same partner twice.

    Each seat except the first moves on by one after a round. With an odd number of nodes one of them waits in each
    round, another one each time.
    """
    seats: list[str | None] = [*nodes, *([None] if len(nodes) % 2 else [])]
    half, rounds = len(seats) // 2, []
    for _ in range(min(count, len(seats) - 1)):
        facing = zip(seats[:half], reversed(seats[half:]))
        rounds.append([(one, other) for one, other in facing if one is not None and other is not None])
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return rounds
