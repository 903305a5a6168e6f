"""Has the pods of a node leave before announced maintenance, if the setting permits it, and says so to their owners."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..look.identity import Object
from ..talk.api import Api, ApiError
from .due import MAINTENANCE
from .maintenance import (
    KEEP,
    Owner,
    by_owner,
    concerned,
    controller_of,
    drains,
    event_name,
    is_near,
    itself,
    message,
    words_of,
)
from .state import WATCH_SOURCE, timestamp

_NOT_FOUND, _CONFLICT, _BUDGET = 404, 409, 429
_PARENTS = {"Job": ("batch/v1", "jobs"), "ReplicaSet": ("apps/v1", "replicasets")}
"""Controllers that may have one themselves, such as a JobSet or a Deployment."""
_NOTE_BYTES = 1024


class Leaving:
    """The watch's work on the pods of nodes. spared: namespaces whose pods are left alone."""

    def __init__(self, api: Api, spared: Collection[str]) -> None:
        self._api, self._spared = api, spared

    def heed(self, node: str, conditions: Sequence[Object], setting: str, now: float) -> None:
        """Report maintenance to the owners of the pods of a node, each once, and evict what may be. Raises ApiError.

        conditions: that announce it.
        """
        if setting == KEEP:
            return
        pods, words = concerned(self._api.pods_on(node), self._spared), words_of(conditions)
        evicts = drains(setting, conditions)
        owners = {str(pod["metadata"]["uid"]): self._owner(pod) for pod in pods}
        for (namespace, owner), own in by_owner(pods, owners).items():
            names = sorted(str(pod["metadata"]["name"]) for pod in own)
            text = message(node, words, names, evicted=evicts, stays=owner.kind == "Pod")
            self._tell(namespace, owner, event_name(owner, node, words), text, now)
        for pod in pods if evicts and is_near(conditions, now) else ():
            if controller_of(pod) is not None:
                self._evict(pod)

    def _owner(self, pod: Object) -> Owner:
        """The workload of a pod: its controller, or that one's; the pod itself without one."""
        owner = controller_of(pod)
        if owner is None:
            return itself(pod)
        version, plural = _PARENTS.get(owner.kind, ("", ""))
        if owner.version != version:
            return owner
        try:
            parent = self._api.namespaced(version, plural, str(pod["metadata"]["namespace"]), owner.name)
        except ApiError as error:
            if error.status != _NOT_FOUND:
                raise
            return owner
        return controller_of(parent) or owner

    def _evict(self, pod: Object) -> None:
        metadata = pod["metadata"]
        try:
            self._api.evict(metadata["namespace"], metadata["name"], metadata["uid"])
            print(f"{metadata['namespace']}/{metadata['name']}: evicted", flush=True)
        except ApiError as error:
            if error.status == _BUDGET:
                print(f"{metadata['namespace']}/{metadata['name']}: a disruption budget keeps it", flush=True)
            elif error.status not in (_NOT_FOUND, _CONFLICT):  # gone, or another pod has its name
                raise

    def _tell(self, namespace: str, owner: Owner, name: str, text: str, now: float) -> None:
        moment = timestamp(now)
        about = {"apiVersion": owner.version, "kind": owner.kind, "name": owner.name, "uid": owner.uid}
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": {**about, "namespace": namespace},
            "type": "Warning",
            "reason": MAINTENANCE,
            "message": text.encode()[:_NOTE_BYTES].decode(errors="ignore"),
            "source": {"component": WATCH_SOURCE},
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
        }
        try:
            self._api.create_named_event(event)
        except ApiError as error:
            if error.status != _CONFLICT:  # it is there: said before
                raise
