"""The nodes that have to be measured now, and those that pods may come to: pure functions of one look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypedDict

from ..look.identity import Identity, Object, identity_of
from ..say.checks import BETWEEN_MACHINES
from ..talk.quantities import quantity
from .maintenance import words_of
from .state import NodeState

LATE_SECONDS = 600
"""A node that offers all that it has and is not measured after this time is late: a run takes a minute or two, and a
node whose neighbours are all busy cannot be measured."""
PACE_SECONDS = 180
"""Between the beginnings of two runs for the same pool."""
AT_ONCE, OR_LATE = "at-once", "measured-or-late"
"""Admissions: pods come at once; or when the node is measured, or late. The third one waits for the measurement."""
JOINED, RESTARTED = "it joined", "it restarted"
ANNOUNCED, OVER = "Azure has announced maintenance of it", "announced maintenance of it is over, or was cancelled"
HELD, ADMITTED, MAINTENANCE = "InfiniBandNotMeasured", "InfiniBandAdmitted", "InfiniBandMaintenance"
"""Reasons of Events: the node is late and held; pods may come to it now; Azure has announced maintenance of it."""


class Known(TypedDict):
    """One node as the watch knows it.

    due: the reason to measure it, empty without one. since: the beginning of that, in seconds since 1970. usable: the
    first time after that with all resources offered, 0 before. gated: pods are kept off it. tainted: the taint
    was seen. told: an Event says that it is late.
    """

    vm: str
    boot: str
    due: str
    since: float
    usable: float
    gated: bool
    tainted: bool
    told: bool


class Pool(TypedDict):
    """A pool as the watch is given it. maintenance: the setting for its pods (maintenance.py). promised: how much of
    each resource a node offers when it is ready.
    """

    name: str
    selector: str
    admission: str
    maintenance: str
    promised: dict[str, int]
    report: str
    runs: list[str]


class Signs(NamedTuple):
    """Types of nodes' conditions: those that name a fault, and those by which Azure announces maintenance."""

    problems: Sequence[str]
    maintenance: Sequence[str]


class Told(NamedTuple):
    """An Event that is due."""

    node: str
    reason: str
    message: str
    warns: bool = True
    """False for a node that was measured and admitted."""


class Look(NamedTuple):
    """The result of a look. lift: nodes whose taint goes. run: a light check has to begin."""

    known: dict[str, Known]
    lift: list[str]
    told: list[Told]
    run: bool


Measured = Mapping[str, Sequence[Object]]
"""By node, the measurements of its machine."""


def judge(
    pool: Pool,
    nodes: Sequence[Object],
    before: Mapping[str, Known] | None,
    measured: tuple[Mapping[str, NodeState], Measured],
    signs: Signs,
    *,
    taint: str,
    now: float,
) -> Look:
    """The result of a look at a pool.

    before: its nodes as they were known at the look before; None at the first look of all: the nodes that are there
    then were admitted before there was a watch. measured: the light check's findings, and all measurements.
    """
    known: dict[str, Known] = {}
    lift, told, wanting = list[str](), list[Told](), list[str]()
    for node in nodes:
        name = str(node["metadata"]["name"])
        one = _met(pool, node, before, signs, taint, now)
        if one["due"]:
            one = _seen(one, node, pool, taint, now)
        if one["due"] == ANNOUNCED:
            one, ended = _announced(one, node, signs, name)
            told += ended
        elif one["due"]:
            one, ended = _settled(pool, name, one, measured, now)
            told += ended
            if one["due"] and one["usable"] and not _failed(measured[0].get(name), one):
                wanting.append(name)
        if _has(node, taint) and not one["gated"]:
            lift.append(name)
        known[name] = one
    return Look(known, lift, told, bool(wanting))


def _met(pool: Pool, node: Object, before: Mapping[str, Known] | None, signs: Signs, taint: str, now: float) -> Known:
    """A node as it is known now, with the event since the look before."""
    identity = identity_of(node)
    last = (before or {}).get(str(node["metadata"]["name"]))
    gate = pool["admission"] != AT_ONCE
    fresh: Known = {
        "vm": identity["vm"], "boot": identity["boot"], "due": "", "since": now, "usable": 0.0, "gated": False,
        "tainted": False, "told": False,
    }  # fmt: skip
    if before is None:  # a node with the taint was being kept by a watch whose notes are lost
        return {**fresh, "due": JOINED, "gated": gate} if _has(node, taint) else fresh
    if last is None or (identity["vm"] and last["vm"] and identity["vm"] != last["vm"]):
        return {**fresh, "due": JOINED, "gated": gate}
    if identity["boot"] and last["boot"] and identity["boot"] != last["boot"]:
        return {**fresh, "due": RESTARTED, "gated": gate}
    own = {"vm": identity["vm"] or last["vm"], "boot": identity["boot"] or last["boot"]}
    return _signed({**last, **own, "gated": last["gated"] and gate}, node, signs, now, gate=gate)  # type: ignore[typeddict-item]


def _signed(last: Known, node: Object, signs: Signs, now: float, *, gate: bool) -> Known:
    """The same machine and boot, with what its conditions say now."""
    again: Known = {**last, "since": now, "usable": 0.0, "told": False}
    announced = bool(true_of(node, signs.maintenance))
    if gate and announced and last["due"] != ANNOUNCED:
        return {**again, "due": ANNOUNCED, "gated": True, "tainted": False}
    if last["due"] == ANNOUNCED and not announced:
        return {**again, "due": OVER}
    if not last["due"] and (problem := _problem(node, signs.problems, last["since"])):
        return {**again, "due": problem}
    return last


def _announced(one: Known, node: Object, signs: Signs, name: str) -> tuple[Known, list[Told]]:
    """A node of which Azure has announced maintenance, which an Event says once."""
    if one["told"]:
        return one, []
    words = words_of(true_of(node, signs.maintenance))
    what = f"{ANNOUNCED} ({words}): no new pod comes to it, and it is measured afterwards. Move work before that time"
    return {**one, "told": True}, [Told(name, MAINTENANCE, what)]


def true_of(node: Object, types: Sequence[str]) -> list[Object]:
    """The conditions of a node that are of these types and True."""
    conditions = (node.get("status") or {}).get("conditions") or []
    return [said for said in conditions if said.get("type") in types and said.get("status") == "True"]


def _problem(node: Object, problems: Sequence[str], since: float) -> str:
    """The condition that began to name a fault after a moment; empty if none did."""
    for condition in true_of(node, problems):
        if _moment(str(condition.get("lastTransitionTime") or "")) > since:
            return f"its condition {condition['type']} is True"
    return ""


def _seen(one: Known, node: Object, pool: Pool, taint: str, now: float) -> Known:
    """A node that has to be measured, with what it offers and the taint that it has now."""
    has = _has(node, taint)
    gated = one["gated"] and (has or not one["tainted"])  # a person has taken the taint away
    usable = one["usable"] or (now if _offers(node, pool["promised"]) else 0.0)
    return {**one, "gated": gated, "tainted": one["tainted"] or has, "usable": usable}


def _settled(
    pool: Pool, name: str, one: Known, results: tuple[Mapping[str, NodeState], Measured], now: float
) -> tuple[Known, list[Told]]:
    """A node that has to be measured, in the light of its measurements."""
    states, measured = results
    state = states.get(name)
    admits = _admits(one, measured.get(name, ()))
    if admits and not (state and not state["healthy"]):
        why = f"{one['due']}, and the node was measured: {admits}"
        return _over(one, now), [Told(name, ADMITTED, why, warns=False)] if one["gated"] else []
    failed = _failed(state, one)
    if not one["usable"] or now - one["usable"] < LATE_SECONDS or failed or one["told"]:
        return one, []
    alone = "no other node of its pool was idle to measure it with, or its own check could not be made"
    minutes = f"{one['due']}, and could not be measured for {LATE_SECONDS // 60} minutes: {alone}"
    if not one["gated"] or pool["admission"] == OR_LATE:
        return _over(one, now), [Told(name, ADMITTED, f"{minutes}; it is admitted unmeasured")] if one["gated"] else []
    return {**one, "told": True}, [Told(name, HELD, f"{minutes}; pods are kept off it until it is")]


def _over(one: Known, now: float) -> Known:
    return {**one, "due": "", "since": now, "gated": False, "tainted": False, "told": False}


def _admits(one: Known, measurements: Sequence[Object]) -> str:
    """The measurement with another machine that was made since and that the node did not fail; empty without one.

    After a restart or a join a measurement on the same boot counts, whenever it was made.
    """
    for each in reversed(measurements):
        identity: Identity = each["identity"]
        between = (each.get("sound") or {}).get(BETWEEN_MACHINES, "")
        same = identity["vm"] in ("", one["vm"]) and identity["boot"] == one["boot"]
        recent = one["due"] in (JOINED, RESTARTED) or _moment(between) >= one["since"]
        of_this_boot = between == each["at"] or _moment(between) >= one["since"]
        if between and same and recent and of_this_boot and each["verdict"] != "fail":
            return f"{each['by']} on {between}"
    return ""


def _failed(state: NodeState | None, one: Known) -> bool:
    """True if the check has looked at the node since and it is not healthy: more runs would say the same."""
    return state is not None and not state["healthy"] and state["checked"] >= one["since"]


def _offers(node: Object, promised: Mapping[str, int]) -> bool:
    status = node.get("status") or {}
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in status.get("conditions") or [])
    offered = status.get("allocatable") or {}
    return ready and all(quantity(offered.get(name, "0")) >= least for name, least in promised.items())


def _has(node: Object, taint: str) -> bool:
    return any(each.get("key") == taint for each in (node.get("spec") or {}).get("taints") or [])


def _moment(text: str) -> float:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0.0
