"""The words of the scheduled check on a node, as plain data: in the report, in a condition and in an Event."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypedDict

from ..look.counters import Counters
from ..look.identity import Identity
from ..look.node import Facts
from ..report.standing import FELL_SHORT, Held, Measurement, Run, is_measurement, measurement_of
from ..say.checks import BETWEEN_MACHINES, Check, severity
from ..say.figures import Figure
from ..say.lines import lines_of
from ..talk.api import Object
from ..talk.config_maps import object_in
from ..talk.steps import Said
from ..talk.termination import shorten

KEY = "light-check.json.gz"
"""Key of the report in its ConfigMap."""
CONDITION = "InfiniBandHealthy"
"""Type of the condition on each node."""
PASSED = "LightCheckPassed"
ALONE = "BandwidthNotMeasured"
"""Reasons of a condition that is True. The first: all was measured. The second: nothing is wrong with the node, and no
other node was idle.
"""
EVENT_REASONS = ("InfiniBandUnhealthy", "InfiniBandRecovered")
"""Reasons of the check's Events: a check of the node failed, and the first one after that did not."""
SOURCE = "aks-infiniband-light-check"
"""The component that Events name as their source."""
WATCH_SOURCE = "aks-infiniband-light-check-watch"
"""The component that Events of the watch name as their source."""
EVENTS_OF_NODES = "default"
"""Namespace in which the API server takes Events of objects that are in none."""
_MESSAGE_BYTES = 1024
"""Longest note of an Event (Kubernetes, pkg/apis/core/validation/events.go, NoteLengthLimit)."""


class Link(TypedDict):
    """A port: whether it is Active, and its signalling rate in Gb/s."""

    up: bool
    rate_gbps: float | None


class _Found(Said):
    """The findings of the last check of a node.

    counters: the ports' error counters then. errors: by how much they have grown since the
    check before. bandwidth: that of RDMA writes to the next idle node, in Gb/s, by device.
    """

    links: dict[str, Link]
    counters: Counters
    errors: Counters
    bandwidth: dict[str, float]


class NodeState(_Found, total=False):
    """The state of a node. measurement: the same in the form of the record; an older release left none."""

    measurement: Measurement


class Members(TypedDict):
    """The numbers of nodes that the pool should have and has, their names, and names of nodes that it had at an earlier
    check and no longer has.
    """

    expected: int
    present: int
    names: list[str]
    gone: list[str]


class State(TypedDict):
    """The report: the last state of each node of a pool that was idle at a check, and the checks of the last run."""

    schema_version: int
    pool: str
    run: str
    finished: int
    members: Members
    nodes: dict[str, NodeState]
    checks: list[Check]


SCHEMA_VERSION = 1
"""Version of the report."""


def states_in(text: str | None) -> tuple[dict[str, NodeState], list[str]]:
    """The states of nodes in the report before, and the nodes that had gone by then: without anything that is not in
    its form, because a person may have edited it, or another release may have written it.
    """
    report = object_in(text) or {}
    if report.get("schema_version") != SCHEMA_VERSION:
        return {}, []
    nodes, members = report.get("nodes"), report.get("members")
    gone = members.get("gone") if isinstance(members, dict) else None
    return (
        {node: state for node, state in nodes.items() if is_state(state)} if isinstance(nodes, dict) else {},
        [name for name in gone if isinstance(name, str)] if isinstance(gone, list) else [],
    )


def is_state(value: object) -> bool:
    """True if this is the state of a node, in its form."""
    if not isinstance(value, dict) or not _Found.__required_keys__ <= set(value):
        return False
    texts, links = (value["reason"], value["message"]), value["links"]
    tables = (value["bandwidth"], *_values(value["counters"]), *_values(value["errors"]))
    return (
        isinstance(value["healthy"], bool)
        and ("measurement" not in value or is_measurement(value["measurement"]))
        and all(isinstance(text, str) for text in texts)
        and isinstance(links, dict)
        and all(isinstance(link, dict) and set(Link.__required_keys__) <= set(link) for link in links.values())
        and all(isinstance(table, dict) and all(map(_is_number, table.values())) for table in tables)
        and all(_is_number(link["rate_gbps"]) or link["rate_gbps"] is None for link in links.values())
        and _is_number(value["checked"])
    )


def _values(value: object) -> list[object]:
    return list(value.values()) if isinstance(value, dict) else [None]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def errors_since(before: Counters, start: Counters, now: Counters) -> Counters:
    """By how much each counter has grown since the check before. If it was reset meanwhile, since this check began."""
    counters: Counters = {}
    for device, values in now.items():
        bases = [known.get(device, {}) for known in (before, start)]
        grown = [{name: values[name] - base[name] for name in values if name in base} for base in bases]
        usable = [growth for growth in grown if growth and min(growth.values()) >= 0]
        counters[device] = usable[0] if usable else {}
    return counters


class Seen(NamedTuple):
    """A node as a run has seen it: its HCAs, error counters now and their growth, bandwidth by device, and which
    machine it is.
    """

    facts: Facts
    counters: Counters
    errors: Counters
    bandwidth: Any
    identity: Identity


def state_of(node: str, seen: Seen, checks: Sequence[Check], run: Run, before: NodeState | None = None) -> NodeState:
    """The state of a node by the checks of a run. Only a check that names the node makes it unhealthy; one that names
    no node stands in the message. before: the state of the node at the check before.
    """
    failing = sorted((check for check in checks if check["verdict"] == "fail"), key=severity)
    failed = [check for check in failing if check["node"] == node]
    good = _good(seen, [check for check in failing if check["node"] is None])
    measurement = measurement_of(node, run, checks, _rows(node, seen), looked_at=True, identity=seen.identity)
    earlier = before.get("measurement") if before else None
    if earlier and earlier["identity"]["vm"] == seen.identity["vm"]:
        measurement["sound"] = {**earlier["sound"], **measurement["sound"]}
    return {
        "checked": int(datetime.fromisoformat(run["at"]).timestamp()),
        "healthy": not failed,
        "reason": _camel_case(failed[0]["check"]) if failed else PASSED if seen.bandwidth else ALONE,
        "message": shorten("; ".join(lines_of(failed)) if failed else good, _MESSAGE_BYTES),
        "links": {
            hca["device"]: {"up": hca["state"] == "ACTIVE", "rate_gbps": hca["rate_gbps"]} for hca in seen.facts["hcas"]
        },
        "counters": seen.counters,
        "errors": seen.errors,
        "bandwidth": dict(seen.bandwidth),
        "measurement": measurement,
    }


def with_held(state: NodeState, held: Sequence[Held]) -> NodeState:
    """The state of a node against which the record of machines holds something: it is not healthy."""
    if not held:
        return state
    lines = [f"{each.told()}; it was cordoned for that, and no measurement since has passed" for each in held]
    if not state["healthy"]:
        return {**state, "message": shorten("; ".join([state["message"], *lines]), _MESSAGE_BYTES)}
    return {**state, "healthy": False, "reason": FELL_SHORT, "message": shorten("; ".join(lines), _MESSAGE_BYTES)}


def _rows(node: str, seen: Seen) -> list[Figure]:
    return [
        {"figure": BETWEEN_MACHINES, "node": node, "device": device, "value": value}
        for device, value in seen.bandwidth.items()
    ]


def _good(seen: Seen, unnamed: Sequence[Check]) -> str:
    """The good parts of a node, in words. unnamed: checks that fail and name no node."""
    rates = {f"{hca['rate_gbps']:g}" for hca in seen.facts["hcas"] if hca["rate_gbps"]}
    measured = (
        f"writes at {min(seen.bandwidth.values()):g} Gb/s or more" if seen.bandwidth else "bandwidth not measured"
    )
    links = f"{len(seen.facts['hcas'])} ports Active at {', '.join(sorted(rates))} Gb/s"
    errors = "error counters within their limits" if any(seen.errors.values()) else "error counters not read"
    return "; ".join([f"{links}, {errors}, {measured}", *(f"names no node: {line}" for line in lines_of(unnamed))])


def kept_in(node: Object) -> list[Held]:
    """The failure that the condition of a node names, for a node of which the record of machines cannot be read."""
    said = _condition_in(node)
    if said.get("reason") != FELL_SHORT or said.get("status") != "False":
        return []
    unread = "the record of machines cannot be read"
    problem = {"check": FELL_SHORT, "device": None, "measured": unread, "expected": "to be measured again"}
    return [Held({"by": f"the condition {CONDITION}", "at": said.get("lastTransitionTime")}, problem)]


def _camel_case(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-"))


def said_of(state: NodeState) -> Said:
    """The facts that the pod on a node needs for its report."""
    return {name: state[name] for name in ("checked", "healthy", "reason", "message")}  # type: ignore[return-value]


def condition_of(node: Object, state: Said) -> Object:
    """The condition of a node. The node's object says since when it is so."""
    status, now = str(state["healthy"]), timestamp(state["checked"])
    before = _condition_in(node)
    return {
        "type": CONDITION,
        "status": status,
        "reason": state["reason"],
        "message": state["message"],
        "lastHeartbeatTime": now,
        "lastTransitionTime": before["lastTransitionTime"] if before.get("status") == status else now,
    }


def event_of(node: Object, state: Said) -> Object | None:
    """An Event for a node that is not healthy, and for a node that is healthy again."""
    if state["healthy"] and _condition_in(node).get("status") != "False":
        return None
    metadata, now = node["metadata"], timestamp(state["checked"])
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": f"{metadata['name']}.", "namespace": EVENTS_OF_NODES},
        "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": metadata["name"], "uid": metadata["uid"]},
        "type": "Normal" if state["healthy"] else "Warning",
        "reason": EVENT_REASONS[state["healthy"]],
        "message": state["message"],
        "source": {"component": SOURCE, "host": metadata["name"]},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }


def _condition_in(node: Object) -> Object:
    conditions: list[Object] = node.get("status", {}).get("conditions") or []
    return next((condition for condition in conditions if condition["type"] == CONDITION), {})


def timestamp(seconds: float) -> str:
    """A moment as the API server takes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
