"""The simulation as a whole: it decides for every pod on a simulated machine what simulates the pod."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

from lightkube.core.async_client import AsyncClient

from rehearsal.machines.hardware.inventory import Inventory
from rehearsal.machines.kubelet import behaviour_pods, job_pods
from rehearsal.machines.kubelet.announcements import Announcements
from rehearsal.machines.kubelet.images import Images
from rehearsal.machines.kubelet.kubelet import Kubelet
from rehearsal.machines.kubelet.log_server import LogServer
from rehearsal.machines.kubelet.repairs import Repairs
from rehearsal.machines.network.address_controller import AddressController
from rehearsal.machines.network.names import Names
from rehearsal.machines.network.sandbox import Sandboxes
from rehearsal.machines.nodes.upkeep import Machines
from rehearsal.machines.pods.behaviours import ORDINARY, behaviour_of, is_executed
from rehearsal.machines.pods.by_node import PodsByNode
from rehearsal.machines.pods.effects import Effects
from rehearsal.machines.pods.running import RunningPod
from rehearsal.machines.pods.status import is_finished
from rehearsal.run.folder import RunFolder
from rehearsal.run.latency import Latencies
from rehearsal.watch.cluster import Cluster, Document

log = logging.getLogger(__name__)

Part = Callable[[RunningPod], Coroutine[Any, Any, None]]
"""The function that simulates a pod."""
_WATCHED: Final = (
    *("Node", "Pod", "ConfigMap", "ResourceClaim", "ResourceSlice", "EndpointSlice", "ComputeDomainClique"),
    *("NodeFeatureRule", "NetworkAttachmentDefinition", "IPPool"),
)


@dataclass
class Simulation:
    """The pods that this process simulates, by UID."""

    cluster: Cluster
    machines: Machines
    kubelet: Kubelet
    stage: behaviour_pods.Stage
    logs: LogServer
    by_node: PodsByNode
    names: Names
    _pods: dict[str, RunningPod] = field(default_factory=dict)
    _off: set[str] = field(default_factory=set)
    """Machines that are off."""
    _tasks: asyncio.TaskGroup = field(default_factory=asyncio.TaskGroup)

    @classmethod
    def of(cls, client: AsyncClient, folder: RunFolder, latencies: Latencies) -> "Simulation":
        """A simulation that keeps its files in a run folder."""
        cluster, effects = Cluster(client, _WATCHED), Effects()
        by_node = PodsByNode.of(cluster)
        logs = LogServer.start(folder, is_running=lambda namespace, name: _is_running(cluster, namespace, name))
        machines = Machines(cluster, effects, Inventory(folder.root), logs.port, by_node)
        sandboxes = Sandboxes(cluster=cluster, effects=effects)
        images = Images(latencies=latencies, run_folder=folder.root)
        stage = behaviour_pods.Stage(effects=effects, sandboxes=sandboxes, images=images, latencies=latencies)
        kubelet = Kubelet.of(machines, sandboxes, images, folder)
        return cls(cluster, machines, kubelet, stage, logs, by_node, Names(folder.machines / "names"))

    async def run(self, announce: Callable[[], None]) -> None:
        """Simulate until cancelled; announce is called once nodes and pods have been read and are acted on."""
        self.cluster.listeners.append(self._hear)
        try:
            async with self._tasks as tasks:
                tasks.create_task(self.cluster.watch())
                await self.cluster.wait_listed()
                tasks.create_task(self.machines.keep())
                repairs = self._repairs()
                tasks.create_task(repairs.keep())
                tasks.create_task(self._announcements(repairs).keep())
                tasks.create_task(AddressController(cluster=self.cluster, effects=self.stage.effects).keep())
                announce()
        finally:
            self.logs.close()

    def _repairs(self) -> Repairs:
        return Repairs(
            cluster=self.cluster,
            effects=self.stage.effects,
            images=self.stage.images,
            run_folder=self.stage.images.run_folder,
            switch=self._switch,
        )

    def _announcements(self, repairs: Repairs) -> Announcements:
        return Announcements(
            cluster=self.cluster,
            run_folder=repairs.run_folder,
            latencies=repairs.images.latencies,
            start_anew=repairs.start_anew,
        )

    def _switch(self, node: str, on: bool) -> None:
        (self._off.discard if on else self._off.add)(node)
        for pod in self._pods.values():
            if pod.spec["nodeName"] == node:
                pod.switch(on=on)

    def _hear(self, kind: str, document: Document, gone: bool) -> None:
        if kind == "Pod":
            self._hear_pod(document, gone=gone)
        elif kind == "EndpointSlice":
            self.names.keep(self.cluster.of(kind).values())
        elif kind == "Node" and gone:
            self.stage.effects.forget(document["metadata"]["name"])
            self.stage.images.forget(document["metadata"]["name"])
            self._switch(document["metadata"]["name"], True)  # so that its pods end
            for pod in self._pods.values():  # the machine is gone, and with it what ran there
                if pod.spec["nodeName"] == document["metadata"]["name"]:
                    pod.seen(pod.document, gone=True)
        elif kind == "Node":
            for pod_document in self.by_node.on(document["metadata"]["name"]):
                self._hear_pod(pod_document, gone=False)

    def _hear_pod(self, document: Document, *, gone: bool) -> None:
        uid = document["metadata"]["uid"]
        if uid in self._pods:
            self._pods[uid].seen(document, gone=gone)
        elif not gone and (part := self._part(document)) is not None:
            pod = RunningPod(cluster=self.cluster, document=document)
            pod.seen(document, gone=False)
            pod.switch(on=pod.spec["nodeName"] not in self._off)
            self._pods[uid] = pod
            self._tasks.create_task(self._play(pod, part))

    def _part(self, document: Document) -> Part | None:
        """The part that simulates a pod; None for a pod that is not yet on a machine, or that has ended."""
        node = self.cluster.of("Node").get(("", document["spec"].get("nodeName") or ""))
        machine = None if node is None else self.machines.inventory.machine(node)
        if machine is None or (is_finished(document) and not document["metadata"].get("deletionTimestamp")):
            return None
        if is_executed(document):
            return lambda pod: job_pods.run(pod, machine, self.kubelet)
        behaviour = behaviour_of(document) or ORDINARY
        return lambda pod: behaviour_pods.drive(pod, behaviour, machine, self.stage)

    async def _play(self, pod: RunningPod, part: Part) -> None:
        try:
            while not await _until_off(pod, part):
                await pod.on.wait()
                pod.booted()
        except Exception:  # an error of one pod must not stop the data centre
            log.exception("pod %s/%s: no longer simulated", pod.namespace, pod.name)
        finally:
            self._pods.pop(pod.uid, None)


async def _until_off(pod: RunningPod, part: Part) -> bool:
    """Play a pod's part; returns whether it came to its end before the pod's machine was switched off."""
    playing, off = asyncio.ensure_future(part(pod)), asyncio.create_task(pod.off.wait())
    try:
        await asyncio.wait({playing, off}, return_when=asyncio.FIRST_COMPLETED)
        if playing.done():
            playing.result()
            return True
        return False
    finally:
        off.cancel()
        playing.cancel()
        await asyncio.wait({playing})


def _is_running(cluster: Cluster, namespace: str, name: str) -> bool:
    pod = cluster.of("Pod").get((namespace, name))
    return pod is not None and not is_finished(pod)
