"""AKS's completion of an agent pool's inputs: its defaults, and the values that it keeps when a PUT leaves them out."""

from collections.abc import Mapping
from typing import Any, Final

from aks_infiniband.facts.catalog.machine import MachineSize

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.node_images import newest_image, system_of_sku
from rehearsal.azure.node_parts import has_nvidia_gpus
from rehearsal.azure.subscription import Series, Size, Snapshot, by_id

TYPE: Final = "azure-native:containerservice:AgentPool"

IMMUTABLE: Final[tuple[str, ...]] = (
    "vmSize", "osType", "osDiskSizeGB", "osDiskType", "kubeletDiskType", "maxPods", "type", "vnetSubnetID",
    "podSubnetID",
    "podIPAllocationMode", "availabilityZones", "enableNodePublicIP", "nodePublicIPPrefixID", "enableEncryptionAtHost",
    "enableUltraSSD", "scaleSetPriority", "scaleSetEvictionPolicy", "spotMaxPrice", "proximityPlacementGroupID",
    "hostGroupID", "capacityReservationGroupID", "gpuInstanceProfile", "gpuProfile", "kubeletConfig",
    "linuxOSConfig", "messageOfTheDay", "workloadRuntime", "gatewayProfile", "windowsProfile",
)  # fmt: skip
"""Properties that AKS refuses to change on a pool that exists: a PUT takes them, and neither `az aks nodepool update`
nor `az aks nodepool upgrade` (which takes a snapshot) can set them.
"""

KEPT: Final = (*IMMUTABLE, "count", "orchestratorVersion")
"""Values that a PUT without them does not change (the count: Azure/AKS issue 1627; of the version: AKS REST API, an
agent pool's orchestratorVersion follows the cluster's only when the pool is made).
"""
_SPOT: Final = "kubernetes.azure.com/scalesetpriority"
"""Label of spot nodes, and key of their taint (Azure, "Add an Azure Spot node pool to an AKS cluster")."""
_UPGRADE: Final = {"maxSurge": "10%", "maxUnavailable": "0"}
_OFF: Final = ("enableAutoScaling", "enableEncryptionAtHost", "enableFIPS", "enableNodePublicIP", "enableUltraSSD")
"""Properties that AKS shows as off by default (tests/field_recordings/aks-bodies.yaml)."""
_LARGEST_DISK_GIB: Final = 2048
"""The most that AKS takes as an OS disk's size; that its own default stops there is assumed."""
_MANAGED_DISK_GIB: Final = ((8, 128), (16, 256), (64, 512))
"""A managed OS disk's size for fewer vCPUs than this; 1024 for more."""


def defaults(
    cloud: Cloud, pool: Mapping[str, Any], cluster: Mapping[str, Any], before: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A pool's outputs: what the request says, and AKS's defaults for the rest. before: those that it has."""
    network = cluster.get("networkProfile") or {}
    azure_cni = network.get("networkPlugin") == "azure"
    overlay = azure_cni and network.get("networkPluginMode") == "overlay"
    size = cloud.size(str(pool.get("vmSize")))
    spot = pool.get("scaleSetPriority") == "Spot"
    disk = str(pool.get("osDiskType") or _default_disk(cloud, pool, size))
    filled = {
        "count": pool.get("minCount") if pool.get("enableAutoScaling") else 1,
        "mode": "User",
        "type": "VirtualMachineScaleSets",
        "osType": "Linux",
        "osSKU": "Ubuntu",
        "osDiskType": disk,
        "kubeletDiskType": "OS",
        # MicrosoftDocs/azure-aks-docs fb060ab, concepts-network-ip-address-planning.md.
        "maxPods": 250 if overlay else 30 if azure_cni and not pool.get("podSubnetID") else 110,
        "scaleDownMode": "Delete",
        **dict.fromkeys(_OFF, False),
        **({"scaleSetEvictionPolicy": "Delete", "spotMaxPrice": -1} if spot else {"upgradeSettings": _UPGRADE}),
        "securityProfile": {"enableSecureBoot": False, "enableVTPM": False, "sshAccess": "LocalUser"},
        "powerState": {"code": "Running"},
        **({"gpuProfile": {"driver": "Install"}} if size and has_nvidia_gpus(size) else {}),
        **pool,
        "osDiskSizeGB": pool.get("osDiskSizeGB") or _disk_gib(cloud, pool, size, disk),
    }
    return {**filled, **(_spot(filled) if spot else {}), **_system(cloud, filled, cluster, size, before or {})}


def _default_disk(cloud: Cloud, pool: Mapping[str, Any], size: Size | MachineSize | None) -> str:
    """Ephemeral if the OS disk fits on the size's temporary disk (Azure, "Storage concepts", default OS disks)."""
    room = temporary_disk_gib(size, cloud.series(str(pool.get("vmSize"))))
    return "Ephemeral" if room and room >= int(pool.get("osDiskSizeGB") or 128) else "Managed"


def _disk_gib(cloud: Cloud, pool: Mapping[str, Any], size: Size | MachineSize | None, disk: str) -> int:
    """An OS disk without a given size: the whole temporary disk, or by vCPUs (Azure, "Storage concepts")."""
    if disk == "Ephemeral":
        room = temporary_disk_gib(size, cloud.series(str(pool.get("vmSize"))))
        return min(max(room or 0, 128), _LARGEST_DISK_GIB)
    return next((gib for fewer, gib in _MANAGED_DISK_GIB if size is None or size.vcpus < fewer), 1024)


def temporary_disk_gib(size: Size | MachineSize | None, series: Series | None) -> int | None:
    """The size's temporary disk; None if it is not known."""
    if isinstance(size, Size):
        return size.temporary_disk_gib
    return series.temporary_disk_gib if series else None


def _spot(pool: Mapping[str, Any]) -> dict[str, Any]:
    taint = f"{_SPOT}=spot:NoSchedule"
    taints = [other for other in pool.get("nodeTaints") or [] if other != taint]
    return {"nodeLabels": {**(pool.get("nodeLabels") or {}), _SPOT: "spot"}, "nodeTaints": [*taints, taint]}


def system_of(outputs: Mapping[str, Any]) -> list[Any]:
    """The target of a pool's machines: node image and Kubernetes."""
    return [outputs.get("nodeImageVersion"), outputs.get("currentOrchestratorVersion")]


def _system(
    cloud: Cloud,
    pool: Mapping[str, Any],
    cluster: Mapping[str, Any],
    size: Size | MachineSize | None,
    before: Mapping[str, Any],
) -> dict[str, Any]:
    """Kubernetes and the node image: the one that is requested, a snapshot's, that which the pool has, or the newest.

    Another Kubernetes brings the newest image of the OS SKU; else a pool keeps what it has (azure-aks-docs fb060ab,
    upgrade-node-image.md).
    """
    version = str(pool.get("orchestratorVersion") or cluster["kubernetesVersion"])
    current = cloud.subscription.patch_of(version) or version
    snapshot = snapshot_of(cloud, pool)
    image = str(pool.get("nodeImageVersion") or "")
    same = ("currentOrchestratorVersion", "osSKU", "creationData")
    if image:
        pass
    elif snapshot:
        image = snapshot.node_image_version
    elif before and all(({**pool, "currentOrchestratorVersion": current}).get(k) == before.get(k) for k in same):
        image = str(before["nodeImageVersion"])
    elif size and is_version(current) and system_of_sku(str(pool["osSKU"]), current):
        image = newest_image(str(pool["osSKU"]), current, size, cloud.node_image_release())
    return {"orchestratorVersion": version, "currentOrchestratorVersion": current, "nodeImageVersion": image}


def is_version(text: str) -> bool:
    """True if a text is a version such as 1.34 or 1.34.2."""
    return all(part.isdigit() for part in text.split("."))


def snapshot_of(cloud: Cloud, pool: Mapping[str, Any]) -> Snapshot | None:
    """The snapshot that a pool's nodes are made from."""
    source = str((pool.get("creationData") or {}).get("sourceResourceId") or "")
    return by_id(cloud.subscription.snapshots, source) if source else None
