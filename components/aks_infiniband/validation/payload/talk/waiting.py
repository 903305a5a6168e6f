"""A pod's pauses between two looks at the API server."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat

_NODES_AT_FULL_PACE = 20


def pause_seconds(poll_seconds: float, nodes: int) -> float:
    """Seconds between two looks of one pod. Each look returns all nodes, and each node has a pod. In a large pool a pod
    therefore looks less often: what the API server sends in a second grows with the nodes, not with their square.
    """
    return poll_seconds * max(1.0, nodes / _NODES_AT_FULL_PACE)


def pauses(longest: float) -> Iterator[float]:
    """Seconds between looks for what usually comes soon. Each is twice as long as the one before, up to the longest."""
    return chain((longest / 8, longest / 4, longest / 2), repeat(longest))
