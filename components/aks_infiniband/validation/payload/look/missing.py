"""Nodes that a pool should have and does not."""

from __future__ import annotations

from collections.abc import Iterable


def missing_nodes(expected: int, present: Iterable[str], known: Iterable[str]) -> tuple[int, list[str]]:
    """The number of nodes that a pool lacks, and the names of those that it had and no longer has. A whole pool lacks
    0, and no names.

    expected: how many nodes it should have. known: names of nodes that an earlier look at the pool found. If a pool is
    whole, others have replaced those that are gone.
    """
    there = set(present)
    missing = max(0, expected - len(there))
    return missing, sorted(set(known) - there) if missing else []
