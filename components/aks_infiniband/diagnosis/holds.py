"""Authors that keep work off a node, and the meaning of other programs' conditions of it: by the table `holds.yaml`.

A cordon alone does not have an author. So a node is only said to be free to uncordon if no other author left a mark on
it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from aks_infiniband.diagnosis.view import Finding, Object, name_of, shown_by
from aks_infiniband.facts.tables import table

CORDONED_BY_VALIDATE: Final = "aks-infiniband/cordoned-by-validate"
"""Annotation of a node that `validate --cordon` has cordoned; its value says why."""
_TABLE: Final = table(__package__, "holds.yaml")
_OURS: Final = ("Ready", "InfiniBandHealthy")
"""Conditions that have separate looks."""
_GOOD_IF_TRUE: Final = re.compile(r"(Ready|Healthy|Available|Succeeded|Initialized|OK|Ok)$")
"""Endings of the types of conditions that are True of a sound node. Conditions of problem detectors are False then
(Kubernetes, "Node Problem Detector").
"""
_SAYS_HEALTHY: Final = re.compile(r"(?<!Not)(IsHealthy|NoFault|Healthy)$")
"""Reasons that say that all is well, whatever the status (NVSentinel, node problem detector)."""
_PROBLEM: Final = re.compile(
    r"Not(Healthy|Ready)|Un(healthy|available|reachable)|Err(or)?|Fail|Fault|Problem|Missing|Flap|Lost|Fallen|Tim(e|ed)Out|"
    r"Pressure|Degraded|Down|Fatal|Corrupt|Watch|Uncorrectable|Deadlock|Scheduled",
    re.IGNORECASE,
)
"""Words of types and reasons that name a problem."""
_MOST: Final = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Hold:
    """The author that keeps work off a node, the reason, and what to do. cordons: the author also cordons the node."""

    author: str
    meaning: str
    next: str
    cordons: bool


def holds_of(node: Object) -> list[Hold]:
    """Every author that has left a mark on a node that keeps work off it."""
    marks = [*_marks(node)]
    holds = dict[str, Hold]()
    for entry in _TABLE["holds"]:
        for kind, name, value in marks:
            counts = kind == entry["by"] and re.fullmatch(entry["name"], name)
            if counts and re.fullmatch(entry.get("value", ".*"), value, re.DOTALL):
                meaning = str(entry["meaning"]).replace("{value}", value[:_MOST])
                next_ = str(entry["next"]).replace("NODE", name_of(node))
                cordons = bool(entry.get("cordons"))
                hold = Hold(author=entry["author"], meaning=meaning, next=next_, cordons=cordons)
                holds.setdefault(entry["author"], hold)
    return list(holds.values())


def holder_of(taint: Mapping[str, Any], node: Object) -> Hold | None:
    """The author of a taint on a node; None if its key names none."""
    alone = {"metadata": {"name": name_of(node)}, "spec": {"taints": [taint]}}
    return next(iter(holds_of(alone)), None)


def _marks(node: Object) -> Iterator[tuple[str, str, str]]:
    metadata = node["metadata"]
    for kind, marks in (("annotation", metadata.get("annotations")), ("label", metadata.get("labels"))):
        yield from ((kind, str(name), str(value)) for name, value in (marks or {}).items())
    for taint in (node.get("spec") or {}).get("taints") or []:
        yield "taint", str(taint.get("key")), str(taint.get("value") or "")


_UNKNOWN: Final = "nothing on the node says who has cordoned it: a person, a drain, or a program that leaves no mark"


def cordoned(node: Object) -> Finding | None:
    """A node that is cordoned, with who holds it; None for one that is not."""
    if not (node.get("spec") or {}).get("unschedulable"):
        return None
    holds, name = holds_of(node), name_of(node)
    what = " is cordoned: nothing new is scheduled on it"
    if holds:
        cause = "; ".join(f"{hold.author} holds it: {hold.meaning}" for hold in holds)
        return shown_by("node", node, "node-cordoned", what, cause=cause, fix="; ".join(hold.next for hold in holds))
    ill = [finding for finding in condition_findings(node) if finding.fix]
    if ill:
        cause = f"{_UNKNOWN}; but the node is not well: {'; '.join(finding.what for finding in ill)}"
        return shown_by("node", node, "node-cordoned", what, cause=cause, fix=ill[0].fix)
    return shown_by("node", node, "node-cordoned", what, cause=_UNKNOWN, command=f"kubectl uncordon {name}")


def condition_findings(node: Object) -> Iterator[Finding]:
    """Conditions of other programs that say that a node is not well."""
    for said in (node.get("status") or {}).get("conditions") or []:
        kind, reason = str(said.get("type")), str(said.get("reason") or "")
        if kind in _OURS or not _is_bad(kind, str(said.get("status")), reason):
            continue
        known = _meaning(kind)
        message = str(said.get("message") or reason or "no message")[:_MOST]
        what = f" has the condition {kind}={said.get('status')}: {message}"
        author, meaning = known.get("author", "an unknown program"), known.get("meaning", "see its message")
        fix = str(known.get("next", "look at what sets this condition (kubectl describe node NODE)"))
        fix = fix.replace("NODE", name_of(node))
        yield shown_by("node", node, "node-condition", what, cause=f"{author} says so: {meaning}", fix=fix)


def _is_bad(kind: str, status: str, reason: str) -> bool:
    """True if a condition names a problem. One that is not known has to say so: it may be True of a sound node."""
    if _SAYS_HEALTHY.search(reason) or not (_meaning(kind) or _PROBLEM.search(f"{kind} {reason}")):
        return False
    return status == ("False" if _GOOD_IF_TRUE.search(kind) else "True")


def _meaning(kind: str) -> Mapping[str, Any]:
    return next((entry for entry in _TABLE["conditions"] if re.fullmatch(entry["type"], kind)), {})
