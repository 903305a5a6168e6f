"""The Node objects of an agent pool's machines, as AKS's kubelets register them. Pure: plain data in, documents out."""

import hashlib
import ipaddress
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from aks_infiniband.catalog import MachineSize

from rehearsal.azure.subscription import Size

MACHINE_ANNOTATION: Final = "rehearsal.aks-infiniband/machine"
"""What is plugged in where: {"size": …, "fabric": …}; machines of one placement group share the fabric."""
KWOK_ANNOTATION: Final = "kwok.x-k8s.io/node"

_KERNEL: Final = "6.8.0-1046-azure"
_CONTAINERD: Final = "containerd://2.1.6-1"
_OS_IMAGE: Final = "Ubuntu 24.04.3 LTS"
_IMAGE_DATE: Final = "202610.27.0"
"""Node image AKSUbuntu-2404gen2containerd of the AKS release of 2026-10-27."""
_AZURES_ADDRESSES: Final = 4
"""Azure keeps the first four addresses of a subnet for itself."""
_ALPHABET: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, kw_only=True)
class PoolFacts:
    """What is the same on every machine of a pool.

    pool: the agent pool's outputs; node_group: the resource group that AKS keeps the machines in; subnet: prefix that
    they take addresses from; pod_range: prefix that their pods do, in /24s, where the network is an overlay; fabric:
    the placement group's, or None where every machine has its own.
    """

    pool: Mapping[str, Any]
    size_name: str
    size: Size | MachineSize
    cluster_id: str
    node_group: str
    subscription_id: str
    location: str
    kubelet_version: str
    fabric: str | None
    subnet: str
    pod_range: str | None


def scale_set(facts: PoolFacts) -> str:
    """The name of the pool's scale set; its eight digits are the cluster's."""
    digits = int(hashlib.sha256(facts.cluster_id.casefold().encode()).hexdigest(), 16) % 10**8
    return f"aks-{facts.pool['name']}-{digits:08d}-vmss"


def node_name(facts: PoolFacts, instance: int) -> str:
    """The machine's name: its number in base 36, six digits, as scale sets count."""
    digits = ""
    for _ in range(6):
        instance, remainder = divmod(instance, 36)
        digits = _ALPHABET[remainder] + digits
    return f"{scale_set(facts)}{digits}"


def node_image(size: Size | MachineSize) -> str:
    """The node image version that AKS reports for a size."""
    suffix = "gen2arm64containerd" if size.architecture == "arm64" else "gen2containerd"
    return f"AKSUbuntu-2404{suffix}-{_IMAGE_DATE}"


def node(facts: PoolFacts, instance: int, address: int) -> dict[str, Any]:
    """The Node object of one machine, status included; devices are for their plugins to add.

    address: the machine's number among those of its subnet, from 0.
    """
    name = node_name(facts, instance)
    group = facts.node_group.lower()
    provider_id = (
        f"azure:///subscriptions/{facts.subscription_id}/resourceGroups/{group}/providers/Microsoft.Compute"
        f"/virtualMachineScaleSets/{scale_set(facts)}/virtualMachines/{instance}"
    )
    machine = {"size": facts.size_name, "fabric": facts.fabric or str(_uuid(f"{provider_id}/fabric"))}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {**labels(facts, instance), "kubernetes.io/hostname": name},
            "annotations": {KWOK_ANNOTATION: "fake", MACHINE_ANNOTATION: json.dumps(machine)},
        },
        "spec": {"providerID": provider_id, "taints": taints(facts.pool), **_pod_cidr(facts, address)},
        "status": {
            "capacity": capacity(facts),
            "allocatable": allocatable(facts),
            "addresses": [
                {"type": "InternalIP", "address": str(ipaddress.ip_network(facts.subnet)[_AZURES_ADDRESSES + address])},
                {"type": "Hostname", "address": name},
            ],
            "nodeInfo": _node_info(facts, provider_id),
        },
    }


def _pod_cidr(facts: PoolFacts, address: int) -> dict[str, Any]:
    """An overlay gives every machine a /24 of the pods' range."""
    if facts.pod_range is None:
        return {}
    prefix = f"{ipaddress.ip_network(facts.pod_range)[address * 256]}/24"
    return {"podCIDR": prefix, "podCIDRs": [prefix]}


def labels(facts: PoolFacts, instance: int) -> dict[str, str]:
    """The labels AKS sets, and the pool's own."""
    pool, architecture = facts.pool, facts.size.architecture
    zones = pool.get("availabilityZones") or []
    zone = f"{facts.location}-{zones[instance % len(zones)]}" if zones else "0"
    return {
        "agentpool": pool["name"],
        "kubernetes.azure.com/agentpool": pool["name"],
        "kubernetes.azure.com/cluster": facts.node_group,
        "kubernetes.azure.com/mode": str(pool["mode"]).lower(),
        "kubernetes.azure.com/node-image-version": node_image(facts.size),
        "kubernetes.azure.com/nodepool-type": pool["type"],
        "kubernetes.azure.com/os-sku": pool["osSKU"],
        "kubernetes.azure.com/os-sku-effective": "Ubuntu2404",
        "kubernetes.azure.com/role": "agent",
        "kubernetes.azure.com/storageprofile": str(pool["osDiskType"]).lower(),
        "kubernetes.io/arch": architecture,
        "kubernetes.io/os": "linux",
        "kubernetes.io/role": "agent",
        "beta.kubernetes.io/arch": architecture,
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/instance-type": facts.size_name,
        "node.kubernetes.io/instance-type": facts.size_name,
        "failure-domain.beta.kubernetes.io/region": facts.location,
        "failure-domain.beta.kubernetes.io/zone": zone,
        "topology.kubernetes.io/region": facts.location,
        "topology.kubernetes.io/zone": zone,
        "topology.disk.csi.azure.com/zone": zone if zones else "",
        **_accelerator_labels(facts.size),
        **(pool.get("nodeLabels") or {}),
    }


def _accelerator_labels(size: Size | MachineSize) -> dict[str, str]:
    if isinstance(size, MachineSize) and size.accelerator and size.accelerator.vendor == "nvidia":
        return {"accelerator": "nvidia", "kubernetes.azure.com/accelerator": "nvidia"}
    return {}


def taints(pool: Mapping[str, Any]) -> list[dict[str, str]]:
    """The pool's taints, `key=value:Effect` or `key:Effect`, as Kubernetes writes them."""
    result = []
    for taint in pool.get("nodeTaints") or []:
        pair, _, effect = taint.rpartition(":")
        key, _, value = pair.partition("=")
        result.append({"key": key, "effect": effect, **({"value": value} if value else {})})
    return result


def capacity(facts: PoolFacts) -> dict[str, str]:
    """What the machine has."""
    return {
        "cpu": str(facts.size.vcpus),
        "memory": f"{facts.size.memory_gib * 1024 * 1024}Ki",
        "ephemeral-storage": f"{int(facts.pool['osDiskSizeGB']) * 1024 * 1024 * 97 // 100}Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "pods": str(facts.pool["maxPods"]),
    }


def allocatable(facts: PoolFacts) -> dict[str, str]:
    """What is left for pods after AKS's reservations.

    Source: "Node resource reservations in AKS": CPU 100m for two cores, then 20m a core up to four and 10m beyond;
    memory the smaller of 20 MB a pod + 50 MB and a quarter, and 100 Mi before eviction.
    """
    cores, pods = facts.size.vcpus, int(facts.pool["maxPods"])
    reserved_cpu = 60 if cores < 2 else 100 + 20 * (min(cores, 4) - 2) + 10 * max(0, cores - 4)
    memory = facts.size.memory_gib * 1024 * 1024
    reserved_memory = min((20 * pods + 50) * 1000 * 1000 // 1024, memory // 4) + 100 * 1024
    storage = int(capacity(facts)["ephemeral-storage"].removesuffix("Ki"))
    return {
        **capacity(facts),
        "cpu": f"{cores * 1000 - reserved_cpu}m",
        "memory": f"{memory - reserved_memory}Ki",
        "ephemeral-storage": f"{storage * 9 // 10}Ki",
    }


def _node_info(facts: PoolFacts, provider_id: str) -> dict[str, str]:
    return {
        "architecture": facts.size.architecture,
        "bootID": str(_uuid(f"{provider_id}/boot")),
        "containerRuntimeVersion": _CONTAINERD,
        "kernelVersion": _KERNEL,
        "kubeProxyVersion": "",
        "kubeletVersion": facts.kubelet_version,
        "machineID": _uuid(f"{provider_id}/machine").hex,
        "operatingSystem": "linux",
        "osImage": _OS_IMAGE,
        "systemUUID": str(_uuid(provider_id)),
    }


def _uuid(name: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_URL, name)
