"""The facts that the pods of a run leave for each other, and the wait for those of all nodes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from ..talk.boards import FACTS
from ..talk.config_maps import object_in
from .node import Facts


def entry_key(node: str) -> str:
    """The key of a ConfigMap under which a node's facts lie."""
    return f"{FACTS}{node}.json.gz"


def entries_of(boards: Iterable[Mapping[str, str]], run: str) -> dict[str, Facts]:
    """The facts that the nodes of this run have left, without those of other runs and those that cannot be read.

    boards: the data of the ConfigMaps.
    """
    entries = [object_in(text) for data in boards for key, text in data.items() if key.startswith(FACTS)]
    return {str(entry["node"]): entry["facts"] for entry in entries if entry and entry.get("run") == run}


def gather(
    read: Callable[[], Iterable[Mapping[str, str]]],
    run: str,
    node_count: int,
    *,
    poll_seconds: float,
    timeout_seconds: float,
) -> dict[str, Facts]:
    """Wait until every node of the run has left its facts, or until time is up; returns what is there then."""
    started, said = time.monotonic(), -1
    while True:
        facts = entries_of(read(), run)
        if len(facts) >= node_count or time.monotonic() - started >= timeout_seconds:
            return facts
        if len(facts) != said:
            said = len(facts)
            print(f"{said} of {node_count} nodes have reported", flush=True)
        time.sleep(poll_seconds)
