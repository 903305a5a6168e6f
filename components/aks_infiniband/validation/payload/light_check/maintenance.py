"""The pods of a node with announced maintenance: pure functions of its conditions and its pods.

The conditions are those of AKS's node problem detector. The type of one of them, or the first word of its message,
names the event: "Reboot Scheduled: Wed, 26 Feb 2025 10:13:13 GMT. DurationInSeconds: -1. …"
(maksim-paskal/aks-node-termination-handler, issue 98, 2025-02-26).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from ..look.identity import Object

KEEP, ANNOUNCE, DRAIN, DRAIN_FREEZE = "keep", "announce", "drain", "drain-freeze"
"""The setting: pods stay; their owners have Events; pods are evicted, but not before a freeze; before it too."""
FREEZE = "Freeze"
EVENTS = (FREEZE, "Reboot", "Redeploy", "Preempt", "Terminate")
"""Azure's scheduled events (Azure, "Scheduled Events for Linux VMs")."""
LEAD_SECONDS = 1800
"""Pods are evicted so long before the announced time, or at once if the announcement comes later."""
_TIME = re.compile(r"(\w{3}, \d{1,2} \w{3} \d{4} \d\d:\d\d:\d\d GMT)")
_SCHEDULED = re.compile(r"(\w+) ?Scheduled")
_MIRROR = "kubernetes.io/config.mirror"
_OVER = ("Succeeded", "Failed")
_NAME = 200
"""Characters of an object's name in the name of its Event, which has at most 253."""


class Owner(NamedTuple):
    """The object that an Event is about: a workload, or a pod that no controller has made."""

    version: str
    kind: str
    name: str
    uid: str


def events_in(conditions: Sequence[Object]) -> set[str]:
    """The scheduled events that conditions announce; empty if none of them says which."""
    told = [str(one.get(key) or "") for one in conditions for key in ("type", "message")]
    names = {match[1] for match in map(_SCHEDULED.match, told) if match}
    return names & set(EVENTS)


def moment_of(conditions: Sequence[Object]) -> float:
    """The earliest announced time, in seconds since 1970; 0 if none is named, as when the event has begun."""
    return min(filter(None, (_moment(str(one.get("message") or "")) for one in conditions)), default=0.0)


def _moment(message: str) -> float:
    match = _TIME.search(message)
    try:
        return parsedate_to_datetime(match[1]).timestamp() if match else 0.0
    except ValueError:  # such as a 31st of February
        return 0.0


def words_of(conditions: Sequence[Object]) -> str:
    """The conditions in words, each message once."""
    told = {str(one.get("message") or ""): str(one["type"]) for one in conditions}
    return "; ".join(f"{kind}: {message}" for message, kind in told.items())


def drains(setting: str, conditions: Sequence[Object]) -> bool:
    """True if the setting permits to evict pods before what these conditions announce. An event that is not known
    evicts no pod.
    """
    events = events_in(conditions)
    return bool(events) if setting == DRAIN_FREEZE else setting == DRAIN and bool(events - {FREEZE})


def is_near(conditions: Sequence[Object], now: float) -> bool:
    """True if it is time to evict pods: Azure announces some events, such as a failing host's, days before."""
    return now >= moment_of(conditions) - LEAD_SECONDS


def concerned(pods: Sequence[Object], spared: Collection[str]) -> list[Object]:
    """The pods of a node that maintenance interrupts, without those that belong to the node or to the system.

    spared: namespaces of Kubernetes, the operators and this program.
    """
    return [pod for pod in pods if pod["metadata"]["namespace"] not in spared and not _stays(pod)]


def _stays(pod: Object) -> bool:
    metadata, owner = pod["metadata"], controller_of(pod)
    over = (pod.get("status") or {}).get("phase") in _OVER or metadata.get("deletionTimestamp")
    return bool(over or _MIRROR in (metadata.get("annotations") or {}) or (owner and owner.kind == "DaemonSet"))


def controller_of(document: Object) -> Owner | None:
    """The controller of an object, which makes it again."""
    for each in document["metadata"].get("ownerReferences") or []:
        if each.get("controller"):
            return Owner(str(each["apiVersion"]), str(each["kind"]), str(each["name"]), str(each["uid"]))
    return None


def itself(pod: Object) -> Owner:
    """The pod as the object of an Event."""
    return Owner("v1", "Pod", str(pod["metadata"]["name"]), str(pod["metadata"]["uid"]))


def event_name(owner: Owner, *about: str) -> str:
    """The name of an Event, the same for the same owner and words: so it is created once."""
    digest = hashlib.sha256("\n".join((owner.uid, *about)).encode()).hexdigest()[:16]
    return f"{owner.name[:_NAME]}.{digest}"


def message(node: str, words: str, pods: Sequence[str], *, evicted: bool, stays: bool) -> str:
    """The words of an Event. evicted: the pods are; stays: no controller would create the pod again."""
    on = f"Azure has announced maintenance of node {node} ({words}), which affects {_some(pods)}"
    if not evicted:
        return f"{on}. Move the work before that time"
    if stays:
        return f"{on}, not evicted, because no controller would create it again: move it before that time"
    return f"{on}. Evicted {LEAD_SECONDS // 60} minutes before that time, or as soon as disruption budgets permit"


def _some(pods: Sequence[str]) -> str:
    more = f" and {len(pods) - 3} more" if len(pods) > 3 else ""
    return f"pod{'s' * (len(pods) > 1)} {', '.join(pods[:3])}{more}"


def by_owner(pods: Sequence[Object], owners: Mapping[str, Owner]) -> dict[tuple[str, Owner], list[Object]]:
    """Pods by namespace and owner. owners: by the pods' uid."""
    affected: dict[tuple[str, Owner], list[Object]] = {}
    for pod in pods:
        key = (str(pod["metadata"]["namespace"]), owners[str(pod["metadata"]["uid"])])
        affected.setdefault(key, []).append(pod)
    return affected
