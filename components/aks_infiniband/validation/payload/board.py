"""Where the pods of a run tell each other who they are, what to do next and what came of it: a ConfigMap.

It needs no name to be resolved and no port to be open: names of pods that have just started are known late
(Azure/aks-rdma-infiniband issue 115). Index 0 writes the plan, every pod its own entry.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Callable

PLAN_KEY = "plan.json"

Entry = dict[str, Any]
"""What a pod says of itself: run, rank, node, pod (its uid), address, port, devices, networks, done (the id of the last
step that it has carried out) and results (of that step)."""
Plan = dict[str, Any]
"""What is to be done: run, id, members (entries without their results) and step."""


def entry_key(rank: int) -> str:
    """The key under which the pod of an index has its entry."""
    return f"rank-{rank}.json"


class Board:
    """The ConfigMap as one run sees it."""

    def __init__(
        self,
        run: str,
        read: Callable[[], Mapping[str, str]],
        write: Callable[[Mapping[str, str | None]], None],
    ) -> None:
        """``read`` gives the data of the ConfigMap, ``write`` merges keys into it."""
        self._run, self._read, self._write = run, read, write

    def look(self) -> tuple[dict[int, Entry], Plan | None]:
        """The entries of this run by index, and its plan; what belongs to another run or cannot be read, left out."""
        data = self._read()
        entries = [entry for key, text in data.items() if key.startswith("rank-") for entry in self._parsed(text)]
        plans = self._parsed(data.get(PLAN_KEY, ""))
        return {int(entry["rank"]): entry for entry in entries if "rank" in entry}, plans[0] if plans else None

    def enter(self, entry: Entry) -> None:
        """Leave a pod's own entry."""
        self._write({entry_key(entry["rank"]): json.dumps({**entry, "run": self._run})})

    def plan(self, plan: Plan) -> None:
        """Say what is to be done."""
        self._write({PLAN_KEY: json.dumps({**plan, "run": self._run})})

    def clear_others(self, node_count: int) -> None:
        """Remove the entries of indices that this run does not have."""
        ours = {PLAN_KEY, *(entry_key(rank) for rank in range(node_count))}
        stale = [key for key in self._read() if key not in ours]
        if stale:
            self._write(dict.fromkeys(stale))

    def _parsed(self, text: str) -> list[dict[str, Any]]:
        try:
            found = json.loads(text)
        except ValueError:
            return []
        return [found] if isinstance(found, dict) and found.get("run") == self._run else []
