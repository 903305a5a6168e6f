"""Finds the devices that containers hold by ResourceClaim: the scheduler has allocated them to the pod's claims."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.hardware.model import RdmaDevice
from rehearsal.machines.kubelet.device_manager import HeldDevices
from rehearsal.machines.nodes.resource_slices import DRIVER, device_name
from rehearsal.machines.nodes.upkeep import Machines
from rehearsal.machines.pods.running import RunningPod

_KIND: Final = "ResourceClaim"
Document = Mapping[str, Any]


async def with_claims(
    held: Mapping[str, HeldDevices], pod: RunningPod, machine: Machine, machines: Machines
) -> dict[str, HeldDevices]:
    """What containers hold, by name, with the devices of their claims.

    A kubelet starts no container before the driver on its node has prepared the pod's claims, so it waits for both.
    """
    if not pod.spec.get("resourceClaims"):
        return dict(held)
    await machines.effects.wait_provided(machine, "draDevices")
    claims = pod.cluster.of(_KIND)
    await pod.wait_until(lambda: all(_results(claims.get(key)) for key in _names(pod.document).values()))
    allocated = {name: _devices(claims[key], machine) for name, key in _names(pod.document).items()}
    return {
        container: HeldDevices(
            rdma_devices=(*devices.rdma_devices, *_of_container(_container(pod.spec, container), allocated)),
            gpus=devices.gpus,
        )
        for container, devices in held.items()
    }


def _names(pod: Document) -> dict[str, tuple[str, str]]:
    """Namespace and name of the claims that were made from the pod's templates, by the pod's name for each."""
    statuses = (pod.get("status") or {}).get("resourceClaimStatuses") or []
    made = {status["name"]: status.get("resourceClaimName") for status in statuses}
    named = {claim["name"]: claim.get("resourceClaimName") for claim in pod["spec"]["resourceClaims"]}
    return {name: (pod["metadata"]["namespace"], made.get(name) or given or "") for name, given in named.items()}


def _results(claim: Document | None) -> list[Document]:
    allocation = ((claim or {}).get("status") or {}).get("allocation") or {}
    found: list[Document] = (allocation.get("devices") or {}).get("results") or []
    return found


def _devices(claim: Document, machine: Machine) -> list[RdmaDevice]:
    by_name = {device_name(device): device for device in machine.hardware.rdma_devices}
    return [by_name[result["device"]] for result in _results(claim) if result["driver"] == DRIVER]


def _container(spec: Document, name: str) -> Document:
    every = [*(spec.get("initContainers") or []), *spec["containers"]]
    found: Document = next(container for container in every if container["name"] == name)
    return found


def _of_container(container: Document, allocated: Mapping[str, list[RdmaDevice]]) -> Iterator[RdmaDevice]:
    for claim in (container.get("resources") or {}).get("claims") or []:
        yield from allocated[claim["name"]]
