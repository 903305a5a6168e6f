"""Nodes that a pool should have and does not."""

from __future__ import annotations

from collections.abc import Iterable


def missing_nodes(expected: int, present: Iterable[str], known: Iterable[str]) -> tuple[int, list[str]]:
    """How many nodes a pool lacks, and the names of those that it had and has no longer; 0 and none where it is whole.

    expected: number of its nodes. known: names of nodes that an earlier look at the pool had. Where a pool is whole,
    those of them that are gone have been replaced.
    """
    there = set(present)
    missing = max(0, expected - len(there))
    return missing, sorted(set(known) - there) if missing else []
