"""Finds the devices that containers hold by ResourceClaim: the scheduler has allocated them to the pod's claims."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.hardware.model import RdmaDevice
from rehearsal.machines.kubelet import channels
from rehearsal.machines.kubelet.device_manager import HeldDevices
from rehearsal.machines.nodes.resource_slices import DRIVER, device_name
from rehearsal.machines.nodes.upkeep import Machines
from rehearsal.machines.pods.running import RunningPod

_KIND: Final = "ResourceClaim"
Document = Mapping[str, Any]


@dataclass(kw_only=True)
class ClaimedDevices:
    """The devices that drivers have prepared of one pod's claims on its machine."""

    pod: RunningPod
    machine: Machine
    _domains: list[str] = field(default_factory=list)
    """UIDs of ComputeDomains. A driver keeps them, because a claim is deallocated when its pod has ended."""

    async def prepare(self, held: Mapping[str, HeldDevices], machines: Machines) -> dict[str, HeldDevices]:
        """The devices that containers hold, by name, with those of their claims.

        A kubelet starts no container before the driver on its node has prepared the pod's claims, so it waits for both.
        """
        pod, machine = self.pod, self.machine
        if not pod.spec.get("resourceClaims"):
            return dict(held)
        claims = pod.cluster.of(_KIND)
        await pod.cluster.wait_until(lambda: all(_results(claims.get(key)) for key in _names(pod.document).values()))
        named = {name: claims[key] for name, key in _names(pod.document).items()}
        if any(result["driver"] == DRIVER for claim in named.values() for result in _results(claim)):
            await machines.effects.wait_provided(machine, "draDevices")
        domains = channels.domains_of(named)
        for name, uid in domains.items():
            self._domains.append(uid)
            await channels.prepare(pod, machine, uid, str(named[name]["metadata"]["name"]))
        allocated = {name: _devices(claim, machine) for name, claim in named.items()}
        return {
            container: HeldDevices(
                rdma_devices=(*devices.rdma_devices, *_of_container(_container(pod.spec, container), allocated)),
                gpus=devices.gpus,
                imex_channels=(0,) if _claimed(_container(pod.spec, container)) & domains.keys() else (),
            )
            for container, devices in held.items()
        }

    async def unprepare(self) -> None:
        """The pod has ended: undo what was prepared."""
        while self._domains:
            await channels.unprepare(self.pod.cluster, self.machine.name, self._domains.pop())


def _names(pod: Document) -> dict[str, tuple[str, str]]:
    """Namespace and name of the claims that were made from the pod's templates, by the pod's name for each."""
    statuses = (pod.get("status") or {}).get("resourceClaimStatuses") or []
    made = {status["name"]: status.get("resourceClaimName") for status in statuses}
    named = {claim["name"]: claim.get("resourceClaimName") for claim in pod["spec"]["resourceClaims"]}
    return {name: (pod["metadata"]["namespace"], made.get(name) or template or "") for name, template in named.items()}


def _results(claim: Document | None) -> list[Document]:
    allocation = ((claim or {}).get("status") or {}).get("allocation") or {}
    results: list[Document] = (allocation.get("devices") or {}).get("results") or []
    return results


def _devices(claim: Document, machine: Machine) -> list[RdmaDevice]:
    by_name = {device_name(device): device for device in machine.hardware.rdma_devices}
    return [by_name[result["device"]] for result in _results(claim) if result["driver"] == DRIVER]


def _container(spec: Document, name: str) -> Document:
    every = [*(spec.get("initContainers") or []), *spec["containers"]]
    named: Document = next(container for container in every if container["name"] == name)
    return named


def _of_container(container: Document, allocated: Mapping[str, list[RdmaDevice]]) -> Iterator[RdmaDevice]:
    for name in _claimed(container):
        yield from allocated[name]


def _claimed(container: Document) -> set[str]:
    return {claim["name"] for claim in (container.get("resources") or {}).get("claims") or []}
