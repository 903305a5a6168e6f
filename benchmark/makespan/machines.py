"""The time from a machine's joining to its being ready, by the rehearsal's own tables.

The pods are those that the stand-ins of NVIDIA's operators make of a policy; what a pod waits for and how long it takes
is in `rehearsal/machines/pods/behaviours.yaml`, `rehearsal/run/latency.yaml` and `rehearsal/run/images.yaml`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from rehearsal.machines.pods.behaviours import ORDINARY, Behaviour, InitContainerBehaviour, behaviour_of
from rehearsal.operators.gpu.operands import operands
from rehearsal.operators.gpu.parts import Context as GpuContext
from rehearsal.operators.network.parts import OFED_WAIT_LABEL, Context
from rehearsal.operators.network.policy_parts import CLUSTER_PARTS
from rehearsal.operators.plan import Document
from rehearsal.run.images import pull_seconds
from rehearsal.run.latency import Latencies

_REAL: Final = Latencies(speed=1)
_PREFIX: Final = "feature.node.kubernetes.io"
NODE: Final[Document] = {
    "kind": "Node",
    "metadata": {
        "name": "any",
        "labels": {
            "kubernetes.io/arch": "amd64",
            f"{_PREFIX}/system-os_release.ID": "ubuntu",
            f"{_PREFIX}/system-os_release.VERSION_ID": "24.04",
            f"{_PREFIX}/kernel-version.full": "6.8.0-azure",
            f"{_PREFIX}/pci-15b3.present": "true",
        },
    },
}
"""A machine with an adapter, labelled."""
_INIT_IMAGE: Final = "nvcr.io/nvidia/mellanox/network-operator-init-container:any"


def seconds(step: str) -> float:
    """Seconds of a step of latency.yaml on the real thing."""
    return _REAL.seconds(step)


def network_pods(spec: Mapping[str, Any]) -> list[Document]:
    """Templates of the DaemonSets' pods that a NicClusterPolicy or NicNodePolicy requires."""
    context = Context(spec=dict(spec), nodes=[NODE], operator_env={"OFED_INIT_CONTAINER_IMAGE": _INIT_IMAGE})
    sections = [(part, _section(spec, part.section)) for part in CLUSTER_PARTS if part.documents]
    made = [part.documents(section, context) for part, section in sections if section and part.documents]
    return _templates(document for documents in made for document in documents)


def gpu_pods(values: Mapping[str, Any]) -> list[Document]:
    """Templates of the DaemonSets' pods that the GPU Operator makes of its chart's values."""
    documents = operands(GpuContext(spec=dict(values), nodes=[NODE], version="any"))
    return [pod for pod in _templates(documents) if "nvidia.com/mps.capable" not in pod["spec"].get("nodeSelector", {})]


def pod_seconds(pod: Document, *, there: Collection[str] = ()) -> float:
    """From a pod's creation to its being ready, if it waits for nothing on its machine.

    there: images that the machine has.
    """
    return MachineModel(pods=[(pod, 0.0)], there=there).ready([pod])


def _templates(documents: Iterable[Document]) -> list[Document]:
    return [document["spec"]["template"] for document in documents if document["kind"] == "DaemonSet"]


def _follows_ofed(pod: Document) -> bool:
    return (pod["spec"].get("nodeSelector") or {}).get(OFED_WAIT_LABEL) == "false"


def _section(spec: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    section: Any = spec
    for key in path:
        section = (section or {}).get(key)
    return section


@dataclass(frozen=True, kw_only=True)
class MachineModel:
    """The pods of one machine that has InfiniBand and no driver, each with the earliest time of its creation."""

    pods: Sequence[tuple[Document, float]]
    there: Collection[str] = ()
    """Images that the machine has."""
    _times: dict[int, float] = field(default_factory=dict)

    def ready(self, pods: Collection[Document]) -> float:
        """When the last of these pods is."""
        times = (self._ready(index) for index, (pod, _) in enumerate(self.pods) if pod in pods)
        return max(times, default=0.0)

    @cached_property
    def _first_asked(self) -> dict[str, float]:
        """The earliest time at which an image is requested: by the first container of a pod that is there from the
        start.
        """
        asked: dict[str, float] = {}
        for pod, created in self.pods:
            if not _follows_ofed(pod):
                image = [*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]][0]["image"]
                asked[image] = min(asked.get(image, created), created)
        return asked

    def _behaviour(self, index: int) -> Behaviour:
        return behaviour_of(self.pods[index][0]) or ORDINARY

    def _created(self, index: int) -> float:
        pod, created = self.pods[index]
        return max(created, self._provided("ofed") + seconds("operatorRequeue")) if _follows_ofed(pod) else created

    def _provided(self, effect: str) -> float:
        """When the machine has what pods provide; from the start what none of these does."""
        indices = [index for index in range(len(self.pods)) if self._behaviour(index).provides == effect]
        return min((self._ready(index) for index in indices), default=0.0)

    def _ready(self, index: int) -> float:
        if index not in self._times:
            self._times[index] = self._run(index)
        return self._times[index]

    def _run(self, index: int) -> float:
        """As `rehearsal/machines/kubelet/behaviour_pods.py` has it."""
        behaviour, spec, now = self._behaviour(index), self.pods[index][0]["spec"], self._created(index)
        for container in spec.get("initContainers", ()):
            step = behaviour.init_containers.get(container["name"], InitContainerBehaviour())
            now = self._after(step.waits_for, self._pulled(container["image"], now), spec) + seconds(step.latency)
        for container in spec["containers"]:
            now = self._pulled(container["image"], now)
        start, latency = seconds("containerStart"), seconds(behaviour.latency)
        running = now + min(start, latency)
        return self._after(behaviour.waits_for, running, spec) + max(0.0, latency - start)

    def _pulled(self, image: str, asked: float) -> float:
        if image in self.there:
            return asked
        return max(asked, min(asked, self._first_asked.get(image, asked)) + pull_seconds(image))

    def _after(self, condition: str | None, now: float, spec: Document) -> float:
        if condition is None:
            return now
        if condition == "ofedForPeermem":
            peermem = any(container["name"] == "nvidia-peermem-ctr" for container in spec["containers"])
            return max(now, self._provided("ofed")) if peermem else now
        return max(now, self._provided(condition))
