"""The simulation as a whole: it decides for every pod on a simulated machine what simulates the pod."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

from lightkube.core.async_client import AsyncClient

from rehearsal.machines.hardware.inventory import Inventory
from rehearsal.machines.kubelet import behaviour_pods, job_pods
from rehearsal.machines.kubelet.images import Images
from rehearsal.machines.kubelet.kubelet import Kubelet
from rehearsal.machines.kubelet.log_server import LogServer
from rehearsal.machines.network.address_controller import AddressController
from rehearsal.machines.network.sandbox import Sandboxes
from rehearsal.machines.nodes.upkeep import Machines
from rehearsal.machines.pods.behaviours import ORDINARY, behaviour_of, is_job_pod
from rehearsal.machines.pods.by_node import PodsByNode
from rehearsal.machines.pods.effects import Effects
from rehearsal.machines.pods.running import RunningPod
from rehearsal.machines.pods.status import is_finished
from rehearsal.run.folder import RunFolder
from rehearsal.run.latency import Latencies
from rehearsal.watch.cluster import Cluster, Document

log = logging.getLogger(__name__)

_WATCHED: Final = ("Node", "Pod", "ConfigMap", "NodeFeatureRule", "NetworkAttachmentDefinition", "IPPool")


@dataclass
class Simulation:
    """The pods that this process simulates, by UID."""

    cluster: Cluster
    machines: Machines
    kubelet: Kubelet
    stage: behaviour_pods.Stage
    logs: LogServer
    by_node: PodsByNode
    _pods: dict[str, RunningPod] = field(default_factory=dict)
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
        return cls(cluster, machines, Kubelet.of(machines, sandboxes, images, folder), stage, logs, by_node)

    async def run(self, announce: Callable[[], None]) -> None:
        """Simulate until cancelled; announce is called once nodes and pods have been read and are acted on."""
        self.cluster.listeners.append(self._hear)
        try:
            async with self._tasks as tasks:
                tasks.create_task(self.cluster.watch())
                await self.cluster.wait_listed()
                tasks.create_task(self.machines.keep())
                tasks.create_task(AddressController(cluster=self.cluster, effects=self.stage.effects).keep())
                announce()
        finally:
            self.logs.close()

    def _hear(self, kind: str, document: Document, gone: bool) -> None:
        if kind == "Pod":
            self._hear_pod(document, gone=gone)
        elif kind == "Node" and gone:
            self.stage.effects.forget(document["metadata"]["name"])
            self.stage.images.forget(document["metadata"]["name"])
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
            self._pods[uid] = pod
            self._tasks.create_task(self._play(pod, part(pod)))

    def _part(self, document: Document) -> Callable[[RunningPod], Coroutine[Any, Any, None]] | None:
        """The part that simulates a pod; None for a pod that has no machine yet, or that has ended."""
        node = self.cluster.of("Node").get(("", document["spec"].get("nodeName") or ""))
        machine = None if node is None else self.machines.inventory.machine(node)
        if machine is None or (is_finished(document) and not document["metadata"].get("deletionTimestamp")):
            return None
        if is_job_pod(document):
            return lambda pod: job_pods.run(pod, machine, self.kubelet)
        behaviour = behaviour_of(document) or ORDINARY
        return lambda pod: behaviour_pods.drive(pod, behaviour, machine, self.stage)

    async def _play(self, pod: RunningPod, part: Coroutine[Any, Any, None]) -> None:
        try:
            await part
        except Exception:  # an error of one pod must not stop the data centre
            log.exception("pod %s/%s: no longer simulated", pod.namespace, pod.name)
        finally:
            self._pods.pop(pod.uid, None)


def _is_running(cluster: Cluster, namespace: str, name: str) -> bool:
    pod = cluster.of("Pod").get((namespace, name))
    return pod is not None and not is_finished(pod)
