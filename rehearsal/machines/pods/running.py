"""Writes one pod's status to the cluster, carries out its deletion, and knows its address."""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from lightkube import codecs
from lightkube.resources.core_v1 import Pod
from lightkube.types import PatchType

from rehearsal.machines.pods.addresses import free_address
from rehearsal.machines.pods.status import (
    ContainerView,
    PodView,
    Verdict,
    is_ready,
    pod_status,
    terminated,
    views_of,
    waiting,
)
from rehearsal.watch.cluster import Cluster, Document
from rehearsal.watch.requests import insist

log = logging.getLogger(__name__)


def now() -> str:
    """The present as the API writes times."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(kw_only=True)
class RunningPod:
    """One pod on its machine: the document as last seen, and what its containers are doing."""

    cluster: Cluster
    document: Document
    init: list[ContainerView] = field(default_factory=list)
    containers: list[ContainerView] = field(default_factory=list)
    ip: str | None = None
    verdict: Verdict | None = None
    deleted: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the pod is being deleted, or is gone."""
    gone: bool = False
    """True if the object is no longer there."""
    boots: int = 0
    """The number of boots of its machine since the pod came to it."""
    off: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while the pod's machine is off."""
    on: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while it is on."""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _written: Document = field(default_factory=dict)
    _repair: "asyncio.Task[None] | None" = None

    def __post_init__(self) -> None:
        self._view_anew()
        self.ip = (self.document.get("status") or {}).get("podIP")
        self.switch(on=True)

    def _view_anew(self) -> None:
        init = self.spec.get("initContainers") or []
        first = "PodInitializing" if init else "ContainerCreating"
        self.init = views_of(init, waiting("PodInitializing"))
        self.containers = views_of(self.spec["containers"], waiting(first))

    def switch(self, *, on: bool) -> None:
        """Take note of whether the pod's machine is on."""
        (self.off.clear if on else self.off.set)()
        (self.on.set if on else self.on.clear)()

    def booted(self) -> None:
        """View the containers as a kubelet finds them after its machine has booted: none runs, all start again."""
        self.boots += 1
        before = {view.name: view.restarts for view in (*self.init, *self.containers)}
        self._view_anew()
        for view in (*self.init, *self.containers):
            view.restarts = before[view.name] + 1
            view.last_state = terminated(255, started=now(), now=now(), reason="Unknown")
        self._written = {}

    @property
    def spec(self) -> Document:
        """The pod's spec."""
        spec: Document = self.document["spec"]
        return spec

    @property
    def uid(self) -> str:
        """The pod's identity."""
        return str(self.document["metadata"]["uid"])

    @property
    def namespace(self) -> str:
        """The pod's namespace."""
        return str(self.document["metadata"]["namespace"])

    @property
    def name(self) -> str:
        """The pod's name."""
        return str(self.document["metadata"]["name"])

    @property
    def node(self) -> Document | None:
        """The node it is bound to, while there is one."""
        return self.cluster.of("Node").get(("", self.spec["nodeName"]))

    @property
    def host_ip(self) -> str | None:
        """The node's internal address."""
        addresses = ((self.node or {}).get("status") or {}).get("addresses") or []
        return next((address["address"] for address in addresses if address["type"] == "InternalIP"), None)

    def seen(self, document: Document, *, gone: bool) -> None:
        """Take note of a change of the object, unless what was written here is newer."""
        if _version(document) >= _version(self.document):
            self._take(document)
        self.gone = self.gone or gone
        if gone or document["metadata"].get("deletionTimestamp"):
            self.deleted.set()
        elif self._is_called_unready():
            self._written = {}
            self._repair = asyncio.create_task(self.report())

    def _is_called_unready(self) -> bool:
        """True if another program calls the pod unready though its machine answers.

        The node lifecycle controller does so for every pod of a node that was silent, as when this computer slept. A
        kubelet that is back says how its pods are.
        """
        return is_ready({"status": self._written}) and not is_ready(self.document) and is_ready(self.node or {})

    def _take(self, document: Document) -> None:
        self.document = document
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition over the pod's document holds: the changes of all others are none of its business."""
        while not condition():
            await self._changed.wait()

    async def report(self) -> None:
        """Write the status that the containers' views amount to, if it is another than the one last written."""
        async with self._writing:
            if self.gone:
                return
            self.ip = self.ip or free_address(self.document, self.node, self.cluster.of("Pod").values(), self.host_ip)
            view = PodView(
                init=self.init,
                containers=self.containers,
                pod_ip=self.ip,
                host_ip=self.host_ip,
                verdict=self.verdict,
            )
            status = pod_status(self.document, view, now=now())
            if status == self._written:
                return
            patched = await insist(
                lambda: self.cluster.client.patch(
                    Pod.Status,
                    self.name,
                    {"metadata": {"uid": self.uid}, "status": status},
                    namespace=self.namespace,
                    patch_type=PatchType.MERGE,
                ),
                what=f"status of pod {self.namespace}/{self.name}",
            )
            if patched is not None:
                self._written = status
                self._take(patched.to_dict())

    async def tell(self, reason: str, message: str, *, warning: bool = False) -> None:
        """Say in an event, as the kubelet does, what becomes of the pod."""
        digest = hashlib.sha256(f"{self.uid}/{self.boots}/{message}".encode()).hexdigest()[:16]
        moment = now()
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{self.name}.{digest}", "namespace": self.namespace},
            "type": "Warning" if warning else "Normal",
            "reason": reason,
            "message": message,
            "involvedObject": {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": self.name,
                "namespace": self.namespace,
                "uid": self.uid,
            },
            "source": {"component": "kubelet", "host": self.spec["nodeName"]},
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
        }
        await insist(
            lambda: self.cluster.client.create(codecs.from_dict(event)),
            what=f"event of pod {self.namespace}/{self.name}",
        )

    async def volumes_mountable(self) -> None:
        """Until every ConfigMap that the pod's volumes need is there."""
        missing = missing_config_maps(self.document, self.cluster.of("ConfigMap"))
        if missing:
            log.warning("pod %s/%s: volumes need ConfigMaps that are not there: %s", self.namespace, self.name, missing)
        await self.cluster.wait_until(lambda: not missing_config_maps(self.document, self.cluster.of("ConfigMap")))

    async def remove(self) -> None:
        """Delete the object for good, as a kubelet does when every container has stopped."""
        if (
            self.gone
            or self.cluster.of("Pod").get((self.namespace, self.name), {}).get("metadata", {}).get("uid") != self.uid
        ):
            return
        await insist(
            lambda: self.cluster.client.delete(Pod, self.name, namespace=self.namespace, grace_period=0),
            what=f"deletion of pod {self.namespace}/{self.name}",
        )


def missing_config_maps(pod: Mapping[str, Any], config_maps: Mapping[tuple[str, str], Document]) -> list[str]:
    """The ConfigMaps that the pod's volumes need and that are not there: its containers cannot be created."""
    return [
        source["name"]
        for volume in pod["spec"].get("volumes") or []
        if (source := volume.get("configMap")) is not None
        and not source.get("optional")
        and (pod["metadata"]["namespace"], source["name"]) not in config_maps
    ]


def _version(document: Mapping[str, Any]) -> int:
    # Versions of one kind are comparable numbers (KEP-5504).
    return int(document["metadata"].get("resourceVersion") or 0)
