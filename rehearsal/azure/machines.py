"""The Node objects of an agent pool's machines, as AKS's kubelets register them. Pure: plain data in, documents out."""

import hashlib
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from aks_infiniband.facts.catalog.machine import MachineSize

from rehearsal.azure.node_images import node_image, system_of_image
from rehearsal.azure.node_parts import (
    KWOK_ANNOTATION,
    MACHINE_ANNOTATION,
    allocatable,
    capacity,
    gpu_driver,
    has_nvidia_gpus,
    health_conditions,
    machine_annotation,
    node_info,
    stable_uuid,
    taints,
)
from rehearsal.azure.subscription import Size

_ACCELERATOR_LABELS: Final = {"accelerator": "nvidia", "kubernetes.azure.com/accelerator": "nvidia"}
_OVERLAY_LABELS: Final = {
    "kubernetes.azure.com/azure-cni-overlay": "true",
    "kubernetes.azure.com/network-stateless-cni": "false",
    "kubernetes.azure.com/podnetwork-type": "overlay",
}
_MANAGED_DISK_LABELS: Final = {
    f"{prefix}{name}": value
    for prefix in ("", "kubernetes.azure.com/")
    for name, value in (("storageprofile", "managed"), ("storagetier", "Premium_LRS"))
}
"""Labels of nodes with a managed OS disk. Nodes with an ephemeral one have none of them (recorded: nodes.yaml)."""
_AZURES_ADDRESSES: Final = 4
"""Azure keeps the first four addresses of a subnet for itself."""
_ALPHABET: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_LONGEST_LABEL: Final = 63
"""Characters of a label's value (Kubernetes, "Labels and Selectors")."""


@dataclass(frozen=True, kw_only=True)
class PoolFacts:
    """The common facts of all machines of a pool.

    pool: the agent pool's outputs; node_group: the resource group in which AKS keeps the machines; subnet: prefix that
    they take addresses from; pod_range: prefix that their pods do, in /24s, if the network is an overlay; fabric: the
    placement group's, or None if every machine has its own.
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


def node(facts: PoolFacts, instance: int, address: int, host: int = 0) -> dict[str, Any]:
    """The Node object of one machine, status included, without devices: their plugins add them.

    address: the machine's number among those of its subnet, from 0. host: how often it has come to another host.
    """
    name = node_name(facts, instance)
    group = facts.node_group.lower()
    provider_id = (
        f"azure:///subscriptions/{facts.subscription_id}/resourceGroups/{group}/providers/Microsoft.Compute"
        f"/virtualMachineScaleSets/{scale_set(facts)}/virtualMachines/{instance}"
    )
    machine = machine_annotation(
        size_name=facts.size_name,
        size=facts.size,
        fabric=facts.fabric or str(stable_uuid(f"{provider_id}/fabric")),
        instance=instance,
        gpu_profile=facts.pool.get("gpuProfile"),
        image=node_image(facts.pool, facts.size),
        host=host,
    )
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {**labels(facts, instance), "kubernetes.io/hostname": name},
            "annotations": {KWOK_ANNOTATION: "fake", MACHINE_ANNOTATION: machine},
        },
        "spec": {
            "providerID": provider_id,
            "taints": taints(facts.pool.get("nodeTaints") or []),
            **_pod_cidr(facts, address),
        },
        "status": {
            "capacity": capacity(facts.size, _disk(facts), _pods(facts)),
            "allocatable": allocatable(facts.size, _disk(facts), _pods(facts)),
            "conditions": health_conditions(gpu_driver(facts.size, facts.pool.get("gpuProfile"))),
            "addresses": [
                {"type": "InternalIP", "address": str(ipaddress.ip_network(facts.subnet)[_AZURES_ADDRESSES + address])},
                {"type": "Hostname", "address": name},
            ],
            "nodeInfo": node_info(
                size=facts.size,
                image=node_image(facts.pool, facts.size),
                kubelet_version=facts.kubelet_version,
                provider_id=provider_id,
            ),
        },
    }


def _pod_cidr(facts: PoolFacts, address: int) -> dict[str, Any]:
    """An overlay gives every machine a /24 of the pods' range; the node says so here, and simulated pods read it."""
    if facts.pod_range is None:
        return {}
    prefix = f"{ipaddress.ip_network(facts.pod_range)[address * 256]}/24"
    return {"podCIDR": prefix, "podCIDRs": [prefix]}


def labels(facts: PoolFacts, instance: int) -> dict[str, str]:
    """The labels AKS sets, and the pool's own. Left out are those that name the network and the kubelet's identity."""
    pool = facts.pool
    zones = pool.get("availabilityZones") or []
    zone = f"{facts.location}-{zones[instance % len(zones)]}" if zones else "0"
    image = node_image(pool, facts.size)
    return {
        "agentpool": pool["name"],
        "kubernetes.azure.com/agentpool": pool["name"],
        "kubernetes.azure.com/cluster": cluster_label(facts.node_group),
        "kubernetes.azure.com/kubelet-serving-ca": "cluster",
        "kubernetes.azure.com/localdns-state": "disabled",
        "kubernetes.azure.com/mode": str(pool["mode"]).lower(),
        "kubernetes.azure.com/node-image-version": image,
        "kubernetes.azure.com/nodepool-type": pool["type"],
        "kubernetes.azure.com/os-sku": pool["osSKU"],
        "kubernetes.azure.com/os-sku-effective": system_of_image(image).effective,
        "kubernetes.azure.com/os-sku-requested": pool["osSKU"],
        "kubernetes.azure.com/role": "agent",
        "kubernetes.azure.com/sku-cpu": str(facts.size.vcpus),
        "kubernetes.azure.com/sku-memory": str(facts.size.memory_gib * 1024),
        "kubernetes.io/arch": facts.size.architecture,
        "kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": facts.size.architecture,
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/instance-type": facts.size_name,
        "node.kubernetes.io/instance-type": facts.size_name,
        "failure-domain.beta.kubernetes.io/region": facts.location,
        "failure-domain.beta.kubernetes.io/zone": zone,
        "topology.kubernetes.io/region": facts.location,
        "topology.kubernetes.io/zone": zone,
        "topology.disk.csi.azure.com/zone": zone if zones else "",
        **(_OVERLAY_LABELS if facts.pod_range else {}),
        **(_MANAGED_DISK_LABELS if pool["osDiskType"] == "Managed" else {}),
        **(_ACCELERATOR_LABELS if has_nvidia_gpus(facts.size) else {}),
        **(pool.get("nodeLabels") or {}),
    }


def cluster_label(node_group: str) -> str:
    """The label that names the node resource group, whose name may be longer than a label, and end otherwise.

    Source: Azure/AgentBaker, pkg/agent/datamodel, normalizeResourceGroupNameForLabel, and its test (read 2026-11-23).
    """
    value = node_group.replace("(", "-").replace(")", "-")[:_LONGEST_LABEL]
    return f"{value[: _LONGEST_LABEL - 1]}z" if value.endswith(("-", "_", ".")) else value


def _disk(facts: PoolFacts) -> int:
    return int(facts.pool["osDiskSizeGB"])


def _pods(facts: PoolFacts) -> int:
    return int(facts.pool["maxPods"])
