"""The pods of a node with announced maintenance: Events about their owners, and evictions."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from aks_infiniband.light_check.watch_documents import spared
from aks_infiniband.validation.payload.light_check.leaving import Leaving
from aks_infiniband.validation.payload.light_check.maintenance import LEAD_SECONDS, drains, events_in, is_near
from aks_infiniband.validation.payload.talk.api import ApiError

from tests.cases import Case

_MESSAGE: Final = "{} Scheduled: Wed, 26 Feb 2025 10:13:13 GMT. DurationInSeconds: -1.  For more information, see …"
_NEAR: Final = datetime(2025, 2, 26, 10, tzinfo=UTC).timestamp()
_AT: Final = datetime(2025, 2, 26, 10, 13, 13, tzinfo=UTC).timestamp()


def announced(event: str, message: str | None = None) -> list[dict[str, Any]]:
    """The conditions of AKS's node problem detector: the one that all events share, and the event's own."""
    shared = {"type": "VMEventScheduled", "status": "True", "message": message or _MESSAGE.format(event)}
    return [shared, {**shared, "type": f"{event}Scheduled"}]


def owned(text: str) -> list[dict[str, Any]]:
    """The owner in a text as in `Job train`, with its version after a comma."""
    kind, name = text.partition(",")[0].split()
    version = text.partition(", ")[2] or "batch/v1"
    return [{"apiVersion": version, "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}]


def _pod(name: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """A pod of a team that runs, with an `owner`, a `phase`, and further keys of its metadata."""
    more = {key: value for key, value in told.items() if key not in ("owner", "phase")}
    owners = owned(told["owner"]) if "owner" in told else []
    metadata = {"name": name, "namespace": "team", "uid": f"uid-{name}", "ownerReferences": owners, **more}
    return {"metadata": metadata, "status": {"phase": told.get("phase", "Running")}}


class _Cluster:
    """The API server as the watch sees it: the pods of a node, and the parents of Jobs and ReplicaSets."""

    def __init__(self, pods: list[Any], parents: Mapping[str, Any]) -> None:
        self.pods, self.parents, self.kept = pods, parents, set[str]()
        self.evicted: list[str] = []
        self.events: dict[str, Any] = {}

    def pods_on(self, _: str) -> list[Any]:
        return self.pods

    def namespaced(self, version: str, plural: str, namespace: str, name: str) -> Any:
        if name not in self.parents:
            raise ApiError("GET", 404, "not found")
        assert (version, plural, namespace) in (("batch/v1", "jobs", "team"), ("apps/v1", "replicasets", "team"))
        return {"metadata": {"name": name, "ownerReferences": self.parents[name]}}

    def evict(self, namespace: str, name: str, uid: str) -> None:
        assert (namespace, uid) == ("team", f"uid-{name}")
        if name in self.kept:
            raise ApiError("POST", 429, "Cannot evict pod as it would violate the pod's disruption budget")
        self.evicted.append(name)

    def create_named_event(self, event: Any) -> None:
        name = event["metadata"]["name"]
        if name in self.events:
            raise ApiError("POST", 409, "there")
        self.events[name] = event


def outcome_of_maintenance(case: Case) -> Any:
    """Pods on a node with an announced event, and the setting; `parents` has the owners of Jobs and ReplicaSets.
    `looks` come fifteen seconds after each other, with the pods that budgets keep, or with words that Azure adds. Or
    conditions alone: the events in them, if the pods leave, and if that is half an hour before the time.
    """
    if "pods" not in case:
        conditions = announced(case["event"], case.get("message"))
        near = [is_near(conditions, _AT - LEAD_SECONDS - before) for before in (1, 0)]
        events = [sorted(events_in(each)) for each in (conditions, conditions[:1])]
        return {"events": events, "drains": drains(case["setting"], conditions), "near": near}
    parents = {name: owned(text) if text else [] for name, text in case.get("parents", {}).items()}
    cluster: Any = _Cluster([_pod(name, told) for name, told in case["pods"].items()], parents)
    for number, look in enumerate(case.get("looks", [{}])):
        cluster.kept = set(look.get("kept", ()))
        conditions = announced(case.get("event", "Reboot"))
        conditions = [{**one, "message": one["message"] + look.get("words", "")} for one in conditions]
        Leaving(cluster, spared("ours")).heed("a", conditions, case["setting"], _NEAR + 15 * number)
    return {"evicted": cluster.evicted, "told": [_event(each) for each in cluster.events.values()]}


def _event(event: Mapping[str, Any]) -> list[str]:
    about = event["involvedObject"]
    assert event["metadata"]["namespace"] == about["namespace"]
    return [f"{about['kind']} {about['name']}, {about['uid']}", event["reason"], event["message"]]


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {"maintenance": outcome_of_maintenance}
