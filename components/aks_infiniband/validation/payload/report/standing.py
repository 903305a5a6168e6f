"""A measurement of one machine in the form of the record of machines, and the failures that stand against a machine.

The commands and the scheduled check make it here, so that all measurements read alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from statistics import median
from typing import NamedTuple, TypedDict

from ..look.identity import Identity, Object
from ..say.checks import Check
from ..say.figures import Figure
from ..say.lines import as_text, measured_text
from ..talk.config_maps import object_in

RECORD = "machines"
"""Name of the record's ConfigMap."""
RECORD_KEY = "machines.json.gz"
RECORD_VERSION = 1
FELL_SHORT = "FellShort"
"""Reason of the condition of a node that is held because of a command's measurement."""
CORDONED = "cordoned"
"""The decision by which a measurement that failed is held against a node."""
LET_IN = "let in"
"""The decision that ends that."""
LIGHT_CHECK = "light check"
"""The author of what the scheduled check has measured."""
_TEXT, _PROBLEMS, _FIGURES = 2000, 12, 32
"""Characters of a text, and how many problems and figures of a measurement are kept: the worst."""
_SHORT = ("fail", "warn", "not measured")
_MADE = ("pass", "warn", "fail")


class Problem(TypedDict):
    """A check that a machine did not pass."""

    check: str
    verdict: str
    device: str | None
    expected: str
    measured: str
    cause: str | None


class Value(TypedDict):
    """A figure of one HCA, and the median of the same HCA on the nodes that were measured with it."""

    figure: str
    device: str
    value: float
    others: float | None
    other_nodes: int


class Measurement(TypedDict):
    """One measurement of one machine. sound: when each kind of check was made last that it did not fail."""

    at: str
    by: str
    pool: str
    verdict: str
    identity: Identity
    problems: list[Problem]
    sound: dict[str, str]
    values: list[Value]


class Run(TypedDict):
    """A run that measured: when it ended, in ISO 8601, who ran it, and of which pool."""

    at: str
    by: str
    pool: str


def measurement_of(
    name: str, run: Run, every: Sequence[Check], rows: Sequence[Figure], *, looked_at: bool, identity: Identity
) -> Measurement:
    """The part of a run that is about a node.

    every: all checks of the run. rows: its figures. looked_at: the node was.
    """
    own = [check for check in every if check["node"] == name and check["verdict"] in _SHORT]
    short = sorted(own, key=lambda check: _SHORT.index(check["verdict"]))
    problems: list[Problem] = [
        {
            "check": check["check"],
            "verdict": check["verdict"],
            "device": check["device"],
            "expected": as_text(check["expected"])[:_TEXT],
            "measured": measured_text(check)[:_TEXT],
            "cause": check["cause"] and check["cause"][:_TEXT],
        }
        for check in short[:_PROBLEMS]
    ]
    return {
        **run,
        "verdict": problems[0]["verdict"] if problems else "pass" if looked_at else "not measured",
        "identity": identity,
        "problems": problems,
        "sound": dict.fromkeys(_sound(name, every), run["at"]) if looked_at else {},
        "values": _values(name, rows),
    }


def _sound(name: str, every: Sequence[Check]) -> list[str]:
    """Kinds of check that were made and did not fail on a node. A failure that names no node may be its own."""
    open_ = {
        check["check"]
        for check in every
        if check["node"] in (name, None) and check["verdict"] in ("fail", "not measured")
    }
    return sorted({check["check"] for check in every if check["verdict"] in _MADE} - open_)


def _values(name: str, rows: Sequence[Figure]) -> list[Value]:
    """Each figure of each HCA of a node; if there are too many, those that are the farthest from the others'."""
    by_end: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        if row["value"] is not None:
            by_end.setdefault((row["figure"], row.get("device", "")), {})[row.get("node", "")] = row["value"]
    values: list[Value] = []
    for (figure, device), by_node in by_end.items():
        if name in by_node:
            others = [value for node, value in by_node.items() if node != name]
            values.append(
                {
                    "figure": figure,
                    "device": device,
                    "value": by_node[name],
                    "others": median(others) if others else None,
                    "other_nodes": len(others),
                }
            )
    kept = sorted(values, key=lambda one: -abs(one["value"] / one["others"] - 1) if one["others"] else 0.0)[:_FIGURES]
    return [one for one in values if one in kept]


class Held(NamedTuple):
    """A check that failed and stands against a machine, with the measurement that it is of."""

    measurement: Object
    problem: Object

    def told(self) -> str:
        """In a line."""
        return f"{self.measurement['by']} on {self.measurement['at']}: {told(self.problem)}"


def told(problem: Object) -> str:
    """A problem in a line."""
    at = f" ({problem['device']})" if problem["device"] else ""
    return f"{problem['check']}{at}: {problem['measured']}, expected {problem['expected']}"


def standing(measurements: Sequence[Object], vm: str) -> list[Held]:
    """The failures that stand against a machine: until the same check was made and did not fail.

    vm: of the machine as it is now.
    """
    failed: dict[str, list[Held]] = {}
    sound: dict[str, str] = {}
    for one in sorted(measurements, key=lambda one: str(one["at"])):
        if one["identity"]["vm"] and vm and one["identity"]["vm"] != vm:
            continue
        for kind, at in (one.get("sound") or {}).items():
            sound[kind] = max(at, sound.get(kind, ""))
        mine = [Held(one, problem) for problem in one["problems"] if problem["verdict"] == "fail"]
        failed.update({each.problem["check"]: [] for each in mine})
        for each in mine:
            failed[each.problem["check"]].append(each)
    return [each for kind, every in failed.items() for each in every if each.measurement["at"] > sound.get(kind, "")]


def held(machine: Object, vm: str) -> list[Held]:
    """The failures that stand against a machine that was cordoned for them; empty after it was admitted again.

    machine: what the record has of it.
    """
    decisions = [each for each in machine.get("decisions") or [] if each["what"] in (CORDONED, LET_IN)]
    if not decisions or decisions[-1]["what"] != CORDONED:
        return []
    return standing(machine.get("measurements") or [], vm)


Found = Mapping[str, "Measurement | None"]
"""By node, what the scheduled check has found of its machine, if anything."""


def held_in(text: str | None, form: Found) -> dict[str, list[Held]] | None:
    """By node, what the record holds against its machine; None if the record cannot be read.

    text: of the record, None if there is none yet.
    """
    known = known_in(text, form)
    if known is None:
        return None
    held_: dict[str, list[Held]] = {}
    for node, machine in known.items():
        own = form.get(node)
        against = [each for each in held(machine, own["identity"]["vm"] if own else "") if each.measurement is not own]
        if against:
            held_[node] = against
    return held_


def newest_in(text: str | None, form: Found) -> dict[str, Object]:
    """By node, the newest measurement that says something of its machine."""
    known = known_in(text, form) or known_in(None, form) or {}
    newest = {}
    for node, machine in known.items():
        own = form.get(node)
        said = [one for one in machine["measurements"] if one["verdict"] != "not measured"]
        same = [one for one in said if not own or one["identity"]["vm"] in ("", own["identity"]["vm"])]
        if same:
            newest[node] = max(same, key=lambda one: str(one["at"]))
    return newest


def known_in(text: str | None, form: Found) -> dict[str, Object] | None:
    """By node, what the record has of its machine, with what the check has found; None if it cannot be read."""
    document: Object = {"schema_version": RECORD_VERSION, "machines": {}} if text is None else object_in(text) or {}
    machines = document.get("machines")
    if document.get("schema_version") != RECORD_VERSION or not isinstance(machines, dict):
        return None
    known: dict[str, Object] = {}
    for node, own in form.items():
        machine = machines.get(node, {})
        if not _is_machine(machine):  # it may have been edited by hand
            return None
        measurements = [*(machine.get("measurements") or []), *([own] if own else [])]
        known[node] = {"measurements": measurements, "decisions": machine.get("decisions") or []}
    return known


def _is_machine(value: object) -> bool:
    """True for the entry of a machine in the record, as far as it is read here."""
    if not isinstance(value, dict):
        return False
    measurements, decisions = value.get("measurements") or [], value.get("decisions") or []
    return (
        isinstance(measurements, list)
        and isinstance(decisions, list)
        and all(isinstance(each, dict) and isinstance(each.get("what"), str) for each in decisions)
        and all(map(is_measurement, measurements))
    )


def is_measurement(value: object) -> bool:
    """True for a measurement, as far as it is read here."""
    if not isinstance(value, dict) or not set(value) >= _READ:
        return False
    identity = value["identity"]
    sound, problems = value.get("sound") or {}, value["problems"]
    return (
        isinstance(identity, dict)
        and isinstance(sound, dict)
        and all(isinstance(text, str) for text in (*identity.values(), *sound.values()))
        and isinstance(identity.get("vm"), str)
        and all(isinstance(value[key], str) for key in ("at", "by", "verdict"))
        and _is_moment(value["at"])
        and isinstance(problems, list)
        and all(isinstance(each, dict) and set(Problem.__required_keys__) <= set(each) for each in problems)
    )


_READ = {"at", "by", "verdict", "identity", "problems"}


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
