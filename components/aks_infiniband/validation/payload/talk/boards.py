"""Into which ConfigMaps the pods of a run write: into the report's own, and in a large pool into further ones.

The API server does one write of an object at a time. The server begins every write again that has met another one, so
that the cost of many pods that write into one ConfigMap at once grows with the square of their number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .config_maps import object_in
from .steps import Entry, Plan

PODS = 16
"""The number of pods that write into one ConfigMap. The pods are few enough that their writes together cost less than a
second.
"""
FACTS, ENTRY = "node.", "rank-"
"""The first part of the keys of a node's facts and of a pod's entry."""


def board_names(report: str, pods: int) -> list[str]:
    """The names of the ConfigMaps for this number of pods. The first also holds the report, and has its name."""
    return [report, *(f"{report}-{number}" for number in range(1, math.ceil(pods / PODS)))]


def board_of(report: str, rank: int) -> str:
    """The ConfigMap into which the pod of this index writes."""
    return board_names(report, rank + 1)[-1]


def stale_keys(data: Mapping[str, str], run: str) -> list[str]:
    """The keys that pods of other runs have left in a ConfigMap."""
    left = {key: object_in(text) or {} for key, text in data.items() if key.startswith((FACTS, ENTRY))}
    return [key for key, entry in left.items() if entry.get("run") != run]


PLAN_ANNOTATION = "aks-infiniband/plan"
"""The annotation that holds the plan, compressed. The annotation is read without the data, so that a pod is not sent
the results of all others.
"""


def entry_key(rank: int) -> str:
    """The key of the entry of the pod with this index."""
    return f"{ENTRY}{rank}.json.gz"


class Board:
    """The ConfigMaps as one pod of a run sees them."""

    def __init__(
        self,
        run: str,
        read: Callable[[], Iterable[Mapping[str, str]]],
        write: Callable[[Mapping[str, str | None]], None],
        *,
        read_plan: Callable[[], str | None],
        write_plan: Callable[[str], None],
    ) -> None:
        """``read`` gives the data of the ConfigMaps that the pod looks at. ``write`` merges keys into its own.

        The plan has a separate place.
        """
        self._run, self._read, self._write = run, read, write
        self._read_plan, self._write_plan = read_plan, write_plan

    def entries(self) -> dict[int, Entry]:
        """The entries of this run by index, without those of other runs and those that cannot be read."""
        read = [self._own(text) for data in self._read() for key, text in data.items() if key.startswith(ENTRY)]
        return {int(entry["rank"]): entry for entry in read if entry and "rank" in entry}

    def planned(self) -> Plan | None:
        """The last plan of this run's index 0."""
        plan: Plan | None = self._own(self._read_plan())
        return plan

    def enter(self, entry: Entry) -> None:
        """Leave a pod's own entry."""
        self._write({entry_key(entry["rank"]): json.dumps({**entry, "run": self._run})})

    def plan(self, plan: Plan) -> None:
        """Publish the next step for the pods."""
        self._write_plan(json.dumps({**plan, "run": self._run}))

    def _own(self, text: str | None) -> Any:
        document = object_in(text)
        return document if document and document.get("run") == self._run else None
