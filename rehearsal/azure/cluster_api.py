"""The one place that talks to the local control plane: machines join and leave it, and a deleted cluster empties it."""

import logging
import re
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import httpx2
from lightkube import ApiError, Client, KubeConfig
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Node, Pod

from rehearsal.azure.clock import Clock

_LOG: Final = logging.getLogger(__name__)
_FIELD_MANAGER: Final = "azure"
_PATIENCE_SECONDS: Final = 300.0
"""Time for which the local API server may be silent on a computer that is busy or slept. Azure's would not be
silent.
"""
_DRAIN_SECONDS: Final = 1800.0
"""Time for which AKS tries to drain a node: upgradeSettings.drainTimeoutInMinutes is 30 by default."""


class Blocked(NamedTuple):
    """A pod that may not be evicted now, and the disruption budget that says so."""

    pod: str
    budget: str


class ClusterApi:
    """The control plane behind every managed cluster of this subscription.

    own: the kubeconfig Azure works with; handed_out: the one that the credential functions give to programs.
    """

    def __init__(self, *, own: Path, handed_out: Path, clock: Clock) -> None:
        self._own = own
        self._handed_out = handed_out
        self._clock = clock
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        """A client with Azure's own certificate."""
        if self._client is None:
            config = KubeConfig.from_file(str(self._own))
            patience = httpx2.Timeout(_PATIENCE_SECONDS)
            self._client = Client(config=config, field_manager=_FIELD_MANAGER, trust_env=False, timeout=patience)
        return self._client

    def kubeconfig(self) -> str:
        """The kubeconfig that the credential functions hand out."""
        return self._handed_out.read_text()

    def version(self) -> str:
        """The API server's version, such as `v1.36.3`."""
        return str(self.get("/version")["gitVersion"])

    def get(self, path: str) -> dict[str, Any]:
        """The answer to a GET of an API path."""
        answer: dict[str, Any] = self.request("GET", path).raise_for_status().json()
        return answer

    def request(self, method: str, path: str, body: Any = None) -> httpx2.Response:
        """A request to an API path; a body is a merge patch or a delete's options."""
        content_type = "application/merge-patch+json" if method == "PATCH" else "application/json"
        http = self.client._client._client
        return http.request(method, path, json=body, headers={"Content-Type": content_type})

    def join(self, document: Mapping[str, Any]) -> None:
        """A machine's kubelet registers its node; nothing happens when it has done so before."""
        try:
            self.client.create(cast("Node", Node.from_dict(dict(document))))
        except ApiError as error:
            if error.status.code != HTTPStatus.CONFLICT:
                raise

    def relabel(self, name: str, labels: Mapping[str, str | None], taints: list[dict[str, str]]) -> None:
        """Set and (None) remove labels of a node, and set the taints that are the pool's. One that is gone stays so."""
        if not self._exists(name):
            return
        kept = [taint.to_dict() for taint in self._taints(name) if taint.key.startswith("node.kubernetes.io/")]
        patch = {"metadata": {"labels": dict(labels)}, "spec": {"taints": kept + taints}}
        self.client.patch(Node, name, patch)

    def annotate(self, name: str, annotations: Mapping[str, str]) -> None:
        """Set annotations of a node, of a machine that is there."""
        if self._exists(name):
            self.client.patch(Node, name, {"metadata": {"annotations": dict(annotations)}})

    def _taints(self, name: str) -> Iterable[Any]:
        node = self.client.get(Node, name)
        return (node.spec.taints if node.spec else None) or []

    def leave(self, names: Iterable[str], *, pause: float) -> None:
        """Cordon, drain and remove nodes, as AKS does when a pool shrinks. pause: seconds between evictions."""
        present = [name for name in names if self._exists(name)]
        for name in present:
            self.cordon(name)
        for name in present:
            if blocked := self.drain(name, patience=_DRAIN_SECONDS / self._clock.latencies.speed, pause=pause):
                _LOG.warning("node %s: disruption budget %s holds pod %s; removed with it", name, *reversed(blocked))
            self.remove(name)

    def go(self, names: Iterable[str]) -> None:
        """Remove nodes without cordon and drain, as AKS does when a pool or named machines are deleted."""
        for name in names:
            if self._exists(name):
                self.remove(name)

    def cordon(self, name: str) -> None:
        """Let no pod come to a node; nothing happens to one that is gone."""
        if self._exists(name):
            self.client.patch(Node, name, {"spec": {"unschedulable": True}})

    def uncordon(self, name: str) -> None:
        """Let pods come to a node again."""
        if self._exists(name):
            self.client.patch(Node, name, {"spec": {"unschedulable": None}})

    def tell(self, name: str, reason: str, message: str, kind: str = "Normal") -> None:
        """Leave an event of AKS's upgrader about a node."""
        moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        event = {
            "metadata": {"generateName": f"{name}.", "namespace": "default"},
            "type": kind,
            "reason": reason,
            "message": message,
            "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": name},
            "source": {"component": "upgrader"},
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
        }
        self.request("POST", "/api/v1/namespaces/default/events", event).raise_for_status()

    def _exists(self, name: str) -> bool:
        try:
            self.client.get(Node, name)
        except ApiError as error:
            if error.status.code == HTTPStatus.NOT_FOUND:
                return False
            raise
        return True

    def drain(
        self, name: str, *, patience: float, pause: float, ended: Callable[[], bool] = lambda: False
    ) -> Blocked | None:
        """Evict a node's pods; a pod that a disruption budget has held for longer than the patience, and None else.

        patience: seconds. pause: seconds between evictions. ended: says that it is to end at once.
        """
        limit, told = time.monotonic() + patience, False
        while (pods := self._evictable(name)) and not ended():
            blocked = [refusal for refusal in map(self._evict, pods) if refusal]
            if blocked and not told:
                told = True
                words = f"Eviction blocked by Too many Requests (usually a pdb): {blocked[0].pod}"
                self.tell(name, "Drain", words, "Warning")
            if blocked and time.monotonic() > limit:
                return blocked[0]
            self._clock.pause(pause)
        return None

    def _pods(self, name: str) -> list[Pod]:
        return list(self.client.list(Pod, namespace="*", fields={"spec.nodeName": name}))

    def _evictable(self, name: str) -> list[Pod]:
        return [pod for pod in self._pods(name) if not _belongs_to_daemon_set(pod) and not _finished(pod)]

    def _evict(self, pod: Pod) -> Blocked | None:
        """Request a pod's eviction; the budget that forbids it now."""
        assert pod.metadata
        metadata = ObjectMeta(name=pod.metadata.name, namespace=pod.metadata.namespace)
        try:
            self.client.create(
                Pod.Eviction(metadata=metadata),
                name=str(pod.metadata.name),
                namespace=str(pod.metadata.namespace),
            )
        except ApiError as error:
            if error.status.code == HTTPStatus.NOT_FOUND:
                return None
            if error.status.code == HTTPStatus.TOO_MANY_REQUESTS:
                causes = (error.status.details.causes if error.status.details else None) or []
                named = re.search(r"disruption budget (\S+)", " ".join(str(cause.message) for cause in causes))
                return Blocked(str(metadata.name), named[1] if named else "of the pod")
            raise
        return None

    def remove(self, name: str) -> None:
        """Delete the node of a machine that is gone, and the pods that ran on it."""
        for pod in self._pods(name):
            assert pod.metadata
            self._delete(f"/api/v1/namespaces/{pod.metadata.namespace}/pods/{pod.metadata.name}")
        self._delete(f"/api/v1/nodes/{name}")

    def _delete(self, path: str) -> None:
        answer = self.request("DELETE", path, {"gracePeriodSeconds": 0})
        if answer.status_code != HTTPStatus.NOT_FOUND:
            answer.raise_for_status()


def _belongs_to_daemon_set(pod: Pod) -> bool:
    owners = (pod.metadata.ownerReferences if pod.metadata else None) or []
    return any(owner.kind in ("DaemonSet", "Node") for owner in owners)


def _finished(pod: Pod) -> bool:
    return bool(pod.status and pod.status.phase in ("Succeeded", "Failed"))
