"""Gives containers their devices, as the kubelet's device manager does, for pods that are executed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from lightkube.utils.quantity import parse_quantity

from rehearsal.machines.hardware.device_plugins import OfferedResource
from rehearsal.machines.hardware.model import Gpu, Hardware, RdmaDevice
from rehearsal.machines.pods.status import is_finished

Document = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class HeldDevices:
    """The devices of one container."""

    rdma_devices: tuple[RdmaDevice, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    imex_channels: tuple[int, ...] = ()


@dataclass
class DeviceManager:
    """The pod that holds each unit of a resource: (node, resource) -> unit -> pod UID."""

    _held: dict[tuple[str, str], dict[int, str]] = field(default_factory=dict)

    def allocate(
        self, pod: Document, container: Document, hardware: Hardware, offers: Iterable[OfferedResource]
    ) -> HeldDevices:
        """Give a container the devices that it requests; its pod has been admitted, so they are there."""
        rdma_devices: dict[str, RdmaDevice] = {}
        gpus: dict[int, Gpu] = {}
        asked = extended_resources([container])
        for offer in offers:
            units = self._take(pod, offer, asked.get(offer.name, 0))
            if offer.gpus:
                gpus |= {hardware.gpus[unit].index: hardware.gpus[unit] for unit in units}
            elif units:
                devices = offer.rdma_devices if offer.shared else [offer.rdma_devices[unit] for unit in units]
                rdma_devices |= {device.name: device for device in devices}
        return HeldDevices(rdma_devices=tuple(rdma_devices.values()), gpus=tuple(gpus.values()))

    def allocate_pod(
        self, pod: Document, hardware: Hardware, offers: Sequence[OfferedResource]
    ) -> dict[str, HeldDevices]:
        """Give each container of a pod its devices; containers get those again that init containers held before."""
        held: dict[str, HeldDevices] = {}
        for container in pod["spec"].get("initContainers") or []:
            held[container["name"]] = self.allocate(pod, container, hardware, offers)
            if container.get("restartPolicy") != "Always":  # a sidecar keeps what it has
                self.release(pod)
        for container in pod["spec"]["containers"]:
            held[container["name"]] = self.allocate(pod, container, hardware, offers)
        return held

    def release(self, pod: Document) -> None:
        """The pod holds nothing any more."""
        for units in self._held.values():
            for unit in [unit for unit, holder in units.items() if holder == pod["metadata"]["uid"]]:
                del units[unit]

    def _take(self, pod: Document, offer: OfferedResource, count: int) -> Sequence[int]:
        units = self._held.setdefault((pod["spec"]["nodeName"], offer.name), {})
        free = [unit for unit in range(offer.count) if unit not in units][:count]
        units.update(dict.fromkeys(free, pod["metadata"]["uid"]))
        return free


def extended_resources(containers: Iterable[Document]) -> dict[str, int]:
    """The amount of each extended resource that containers request together."""
    total: dict[str, int] = {}
    for container in containers:
        for name, quantity in ((container.get("resources") or {}).get("limits") or {}).items():
            if "/" in name:
                total[name] = total.get(name, 0) + int(parse_quantity(str(quantity)) or Decimal(0))
    return total


def asked_by_pod(pod: Document) -> dict[str, int]:
    """The amount of each extended resource that a pod takes: its containers together, or an init container that
    requests more.

    Sidecars count among the containers (Kubernetes, "Init containers", resource sharing).
    """
    init = pod["spec"].get("initContainers") or []
    sidecars = [container for container in init if container.get("restartPolicy") == "Always"]
    asked = extended_resources([*pod["spec"]["containers"], *sidecars])
    for container in init:
        for name, count in extended_resources([container]).items():
            asked[name] = max(asked.get(name, 0), count)
    return asked


def refusal(pod: Document, node: Document, pods: Iterable[Document]) -> str | None:
    """Why a kubelet refuses a pod that the scheduler has bound, or None: its devices are not there (any more).

    pods: all pods of the cluster.
    """
    others = [
        other
        for other in pods
        if other["spec"].get("nodeName") == pod["spec"]["nodeName"]
        and other["metadata"]["uid"] != pod["metadata"]["uid"]
        and not is_finished(other)
    ]
    held: dict[str, int] = {}
    for other in others:
        for name, count in asked_by_pod(other).items():
            held[name] = held.get(name, 0) + count
    allocatable = (node.get("status") or {}).get("allocatable") or {}
    for name, asked in asked_by_pod(pod).items():
        available = max(0, int(parse_quantity(allocatable.get(name, "0")) or 0) - held.get(name, 0))
        if available < asked:
            return (
                f"Allocate failed due to requested number of devices unavailable for {name}. "
                f"Requested: {asked}, Available: {available}, which is unexpected"
            )
    return None
