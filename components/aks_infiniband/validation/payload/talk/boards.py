"""Into which ConfigMaps the pods of a run write: into the report's own, and in a large pool into further ones.

The API server takes one write of an object after another, and begins those that came meanwhile anew: what simultaneous
writes of one object cost it grows with their square.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from .api import object_in

PODS = 16
"""So many pods write into one ConfigMap: few enough that their writes cost less than a second together."""
FACTS, ENTRY = "node.", "rank-"
"""How the keys begin under which a node's facts and a pod's entry lie."""


def board_names(report: str, pods: int) -> list[str]:
    """The ConfigMaps of this number of pods; the first, which also holds the report, has the report's name."""
    return [report, *(f"{report}-{number}" for number in range(1, math.ceil(pods / PODS)))]


def board_of(report: str, rank: int) -> str:
    """That into which the pod of an index writes."""
    return board_names(report, rank + 1)[-1]


def stale_keys(data: Mapping[str, str], run: str) -> list[str]:
    """What pods that have no part in this run have left in a ConfigMap."""
    left = {key: object_in(text) or {} for key, text in data.items() if key.startswith((FACTS, ENTRY))}
    return [key for key, entry in left.items() if entry.get("run") != run]
