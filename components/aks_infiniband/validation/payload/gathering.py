"""What the nodes of a run leave in the report's ConfigMap, and the wait for all of them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, Callable, NamedTuple


class Run(NamedTuple):
    """Which run this is, and who this pod is in it."""

    run: str
    rank: int
    node: str
    pod: str
    address: str


def entry_key(node: str) -> str:
    """The key of the report ConfigMap under which a node's facts lie."""
    return f"node.{node}.json"


def entries_of(data: Mapping[str, str], run: str) -> dict[str, dict[str, Any]]:
    """The facts that the nodes of this run have left; those of other runs, and what cannot be read, left out."""
    found = {}
    for key, text in data.items():
        if not key.startswith("node."):
            continue
        try:
            entry = json.loads(text)
            if entry["run"] == run:
                found[str(entry["node"])] = dict(entry["facts"])
        except (ValueError, KeyError, TypeError):
            continue
    return found


def stale_keys(data: Mapping[str, str], nodes: Sequence[str]) -> list[str]:
    """The entries of nodes that have no part in this run."""
    current = {entry_key(node) for node in nodes}
    return [key for key in data if key.startswith("node.") and key not in current]


def gather(
    read: Callable[[], Mapping[str, str]],
    run: str,
    node_count: int,
    *,
    poll_seconds: float,
    timeout_seconds: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, dict[str, Any]]:
    """Wait until every node of the run has left its facts, or time is up; returns what is there then."""
    started = clock()
    while True:
        found = entries_of(read(), run)
        if len(found) >= node_count or clock() - started >= timeout_seconds:
            return found
        print(f"{len(found)} of {node_count} nodes have reported", flush=True)
        sleep(poll_seconds)


def who_am_i(environment: Mapping[str, str]) -> Run:
    """From what the Job controller and the downward API put into the environment. Raises KeyError, ValueError."""
    return Run(
        environment["JOB_UID"],
        int(environment["JOB_COMPLETION_INDEX"]),
        environment["NODE_NAME"],
        environment["POD_UID"],
        environment["POD_IP"],
    )
