"""The parts of a Node object that every simulated machine has. Pure: plain data in and out."""

import json
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, Final

from aks_infiniband.facts.catalog.machine import MachineSize

from rehearsal.azure.node_images import kernel_on, system_of_image
from rehearsal.azure.subscription import Size

MACHINE_ANNOTATION: Final = "rehearsal.aks-infiniband/machine"
"""A machine's facts: {"size": …, "fabric": …, "rack": …, "gpuDriver": "Install" or "None", "imageHasDrivers": …,
"host": …}; machines of one placement group share the fabric, with Install AKS has put the GPUs' driver on it;
imageHasDrivers: true if the node image has DOCA-OFED, GPU driver, container toolkit and device plugin; host: the number
of times that it has come to another host.
"""
BOOT_ANNOTATION: Final = "rehearsal.aks-infiniband/boot"
"""Azure's start of a machine: {"number": …, "action": "restart" or "redeploy", "disk": "kept" or "new"}."""
KWOK_ANNOTATION: Final = "kwok.x-k8s.io/node"


def machine_annotation(
    *,
    size_name: str,
    size: Size | MachineSize,
    fabric: str,
    instance: int,
    gpu_profile: Mapping[str, Any] | None,
    image: str,
    host: int = 0,
) -> str:
    """The annotation that gives the other simulators a machine's facts.

    instance: its number in its pool, by which racks are filled one after the other: how Azure fills them is assumed.
    gpu_profile: the agent pool's; image: the node image's version. host: how often it has come to another host.
    """
    rack = instance // size.nvlink_domain if isinstance(size, MachineSize) and size.nvlink_domain > 1 else None
    facts = {
        "size": size_name,
        "fabric": fabric,
        **({} if rack is None else {"rack": rack}),
        "gpuDriver": gpu_driver(size, gpu_profile),
        "imageHasDrivers": system_of_image(image).has_drivers,
        **({"host": host} if host else {}),
    }
    return json.dumps(facts)


def gpu_driver(size: Size | MachineSize, gpu_profile: Mapping[str, Any] | None) -> str:
    """Install or None: whether AKS puts the GPUs' driver on a machine. gpu_profile: the agent pool's."""
    return str((gpu_profile or {}).get("driver", "Install")) if has_nvidia_gpus(size) else "None"


def health_conditions(driver: str) -> list[dict[str, str]]:
    """The words of AKS's node-problem-detector on GPUs and InfiniBand of a sound machine; empty if it does not look at
    the pool.

    The detector looks at every pool whose GPU driver is AKS's own. Sources: MicrosoftDocs/azure-aks-docs,
    gpu-health-monitoring.md (2026-02-27) and node-problem-detector.md; Azure/AgentBaker, e2e/validators.go (reason and
    message of the first and of IBLinkFlapping; those of the others are assumed). UnhealthyNvidiaDevicePlugin and
    UnhealthyNvidiaDCGMServices are for GPUs that AKS manages.
    """
    if driver != "Install":
        return []
    return [
        {"type": name, "status": "False", "reason": f"No{name}", "message": message}
        for name, message in _HEALTH_CHECKS.items()
    ]


_HEALTH_CHECKS: Final = {
    "GPUMissing": "All GPUs are present",
    "XIDErrors": "No XID errors",
    "NVLinkStatusInactive": "NVLink is active",
    "IBLinkFlapping": "IB link is stable",
    "GPUClockThrottling": "GPU clocks are not throttled",
}


def has_nvidia_gpus(size: Size | MachineSize) -> bool:
    """True if AKS has a driver for the size's GPUs. AKS has none for AMD's."""
    if isinstance(size, MachineSize):
        return size.accelerator is not None and size.accelerator.vendor == "nvidia"
    return size.gpus > 0


def taints(given: Iterable[str]) -> list[dict[str, str]]:
    """Taints, `key=value:Effect` or `key:Effect`, as Kubernetes writes them."""
    result = []
    for taint in given:
        pair, _, effect = taint.rpartition(":")
        key, _, value = pair.partition("=")
        result.append({"key": key, "effect": effect, **({"value": value} if value else {})})
    return result


def capacity(size: Size | MachineSize, disk_gb: int, pods: int) -> dict[str, str]:
    """The capacity of a machine."""
    return {
        "cpu": str(size.vcpus),
        "memory": f"{size.memory_gib * 1024 * 1024}Ki",
        "ephemeral-storage": f"{disk_gb * 1024 * 1024 * 97 // 100}Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "pods": str(pods),
    }


def allocatable(size: Size | MachineSize, disk_gb: int, pods: int) -> dict[str, str]:
    """The resources that are left for pods after AKS's reservations, in the kubelet's units: storage in bytes.

    Source: "Node resource reservations in AKS": CPU 100m for two cores, then 20m a core up to four and 10m beyond;
    memory the smaller of 20 MB a pod + 50 MB and a quarter, and 100 Mi before eviction.
    """
    cores = size.vcpus
    reserved_cpu = 60 if cores < 2 else 100 + 20 * (min(cores, 4) - 2) + 10 * max(0, cores - 4)
    memory = size.memory_gib * 1024 * 1024
    reserved_memory = min((20 * pods + 50) * 1000 * 1000 // 1024, memory // 4) + 100 * 1024
    has = capacity(size, disk_gb, pods)
    storage = int(has["ephemeral-storage"].removesuffix("Ki"))
    return {
        **has,
        "cpu": f"{cores * 1000 - reserved_cpu}m",
        "memory": f"{memory - reserved_memory}Ki",
        "ephemeral-storage": str(storage * 1024 * 9 // 10),
    }


def node_info(*, size: Size | MachineSize, image: str, kubelet_version: str, provider_id: str) -> dict[str, str]:
    """A kubelet's words on its machine. image: the node image's version; provider_id: unique among machines."""
    system = system_of_image(image)
    return {
        "architecture": size.architecture,
        "bootID": str(stable_uuid(f"{provider_id}/boot")),
        "containerRuntimeVersion": system.containerd,
        "kernelVersion": kernel_on(size, image),
        "kubeProxyVersion": "",
        "kubeletVersion": kubelet_version,
        "machineID": stable_uuid(f"{provider_id}/machine").hex,
        "operatingSystem": "linux",
        "osImage": system.os_image,
        "systemUUID": str(stable_uuid(provider_id)),
    }


def stable_uuid(name: str) -> uuid.UUID:
    """The same for the same name."""
    return uuid.uuid5(uuid.NAMESPACE_URL, name)
