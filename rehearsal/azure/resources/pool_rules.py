"""What Azure asks of an agent pool, inline or on its own: size, count, zones, quota, and what may change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from aks_infiniband.catalog import MachineSize

from rehearsal.azure.errors import AzureError, bad_request
from rehearsal.azure.machines import node_image
from rehearsal.azure.resources.networks import find_subnet
from rehearsal.azure.store import Record

if TYPE_CHECKING:
    from rehearsal.azure.cloud import Cloud

TYPE: Final = "azure-native:containerservice:AgentPool"

IMMUTABLE: Final[tuple[str, ...]] = (
    "vmSize", "osType", "osDiskSizeGB", "osDiskType", "kubeletDiskType", "maxPods", "type", "vnetSubnetID",
    "podSubnetID",
    "podIPAllocationMode", "availabilityZones", "enableNodePublicIP", "nodePublicIPPrefixID", "enableEncryptionAtHost",
    "enableUltraSSD", "scaleSetPriority", "scaleSetEvictionPolicy", "spotMaxPrice", "proximityPlacementGroupID",
    "hostGroupID", "capacityReservationGroupID", "gpuInstanceProfile", "gpuProfile", "creationData", "kubeletConfig",
    "linuxOSConfig", "messageOfTheDay", "workloadRuntime", "gatewayProfile", "windowsProfile",
)  # fmt: skip
"""What AKS refuses to change on a pool that exists: all that a PUT takes and `az aks nodepool update` cannot set."""

_PLACEMENT_GROUP_MACHINES: Final = 100
"""The most machines of a scale set that is one placement group (Azure, "Scale sets and placement groups")."""
_COUNT: Final = {"System": (1, 1000), "User": (0, 1000), "Gateway": (2, 1000)}
"""Counts by mode: AKS REST API, `count` of an agent pool."""
_MAX_PODS: Final = (10, 250)
"""AKS REST API and "Configure maximum pods"."""
_OS_DISK: Final = (30, 2048)
"""GB; AKS's smallest and largest OS disk."""


def defaults(cloud: Cloud, pool: Mapping[str, Any], cluster: Mapping[str, Any]) -> dict[str, Any]:
    """A pool's outputs: what was asked for, with AKS's defaults for the rest."""
    network = cluster.get("networkProfile") or {}
    overlay = network.get("networkPlugin") == "azure" and network.get("networkPluginMode") == "overlay"
    size = cloud.subscription.size(str(pool.get("vmSize")))
    version = str(pool.get("orchestratorVersion") or cluster["kubernetesVersion"])
    gpu = isinstance(size, MachineSize) and size.accelerator is not None
    return {
        "count": 1,
        "mode": "User",
        "type": "VirtualMachineScaleSets",
        "osType": "Linux",
        "osSKU": "Ubuntu",
        "osDiskSizeGB": 128,
        "osDiskType": "Managed",
        "kubeletDiskType": "OS",
        "maxPods": 250 if overlay else 30 if network.get("networkPlugin") == "azure" else 110,
        "scaleDownMode": "Delete",
        "enableFIPS": False,
        "upgradeSettings": {"maxSurge": "10%", "maxUnavailable": "0"},
        "securityProfile": {"enableSecureBoot": False, "enableVTPM": False},
        "powerState": {"code": "Running"},
        **({"gpuProfile": {"driver": "Install"}} if gpu else {}),
        **pool,
        "orchestratorVersion": version,
        "currentOrchestratorVersion": cloud.subscription.patch_of(version) or version,
        "nodeImageVersion": node_image(size) if size else "",
    }


def require_pool(
    cloud: Cloud, pool: Mapping[str, Any], name: str, region: str, *, before: Mapping[str, Any] | None
) -> None:
    """Refuse what AKS would refuse of a pool with all its defaults. before: the pool as it is."""
    _require_ranges(pool, name)
    _require_size(cloud, pool, region)
    _require_zones(cloud, pool, region)
    _require_subnet(cloud, pool)
    _require_version(cloud, pool)
    for key in IMMUTABLE if before else ():
        if before and pool.get(key) != before.get(key):
            raise bad_request(
                "PropertyChangeNotAllowed",
                f"Changing property 'properties.{key}' is not allowed.",
                target=f"properties.{key}",
            )


def _in_range(name: str, key: str, value: Any, limits: tuple[int, int]) -> None:
    if not limits[0] <= int(value) <= limits[1]:
        raise bad_request(
            "InvalidParameter",
            f"The value of parameter agentPoolProfile.{key} is invalid. Error details: the {key} of agent "
            f"pool '{name}' is "
            f"{value}. It must be between {limits[0]} and {limits[1]}, inclusive. Please see "
            "https://aka.ms/aks-naming-rules for more details.",
            target=f"agentPoolProfile.{key}",
        )


def _require_ranges(pool: Mapping[str, Any], name: str) -> None:
    _in_range(name, "count", pool["count"], _COUNT.get(str(pool["mode"]), _COUNT["User"]))
    _in_range(name, "maxPods", pool["maxPods"], _MAX_PODS)
    if pool["osDiskSizeGB"]:
        _in_range(name, "osDiskSizeGB", pool["osDiskSizeGB"], _OS_DISK)
    if pool.get("enableAutoScaling"):
        least, most = pool.get("minCount"), pool.get("maxCount")
        if least is None or most is None or least > most:
            raise bad_request(
                "InvalidParameter",
                f"agentPoolProfile.enableAutoScaling is true for agent pool '{name}', so minCount and "
                f"maxCount must be set, minCount not above maxCount; they are {least} and {most}.",
            )
    elif pool.get("minCount") is not None or pool.get("maxCount") is not None:
        raise bad_request(
            "InvalidParameter",
            f"agentPoolProfile.minCount and maxCount of agent pool '{name}' can only be set when "
            "enableAutoScaling is true.",
        )


def _require_size(cloud: Cloud, pool: Mapping[str, Any], region: str) -> None:
    name = pool.get("vmSize")
    if not name:
        raise bad_request("InvalidParameter", "Required parameter agentPoolProfile.vmSize is missing (null).")
    if not cloud.subscription.offers(str(name), region):
        raise bad_request(
            "BadRequest",
            f"The VM size of {name} is not allowed in your subscription in location '{region}'. The available "
            "VM sizes are "
            f"'{','.join(cloud.subscription.offered(region))}'. For more details, please visit "
            "https://aka.ms/aks/quotas-skus-regions",
        )
    size = cloud.subscription.size(str(name))
    if isinstance(size, MachineSize) and not size.placement_feature and pool["osSKU"] != "Ubuntu2404":
        raise bad_request(
            "InvalidParameter",
            f"OS SKU '{pool['osSKU']}' is not supported with VM size '{name}'. Supported OS SKUs are: Ubuntu2404.",
            target="agentPoolProfile.osSKU",
        )


def _require_zones(cloud: Cloud, pool: Mapping[str, Any], region: str) -> None:
    offered = cloud.subscription.regions[region]
    if wrong := [zone for zone in pool.get("availabilityZones") or [] if zone not in offered]:
        raise bad_request(
            "AvailabilityZoneNotSupported",
            f"The zone(s) '{','.join(wrong)}' for resource '{pool['name']}' is not supported. The supported zones for "
            f"location '{region}' are '{','.join(offered)}'",
        )


def _require_subnet(cloud: Cloud, pool: Mapping[str, Any]) -> None:
    subnet = pool.get("vnetSubnetID")
    if subnet and find_subnet(cloud, str(subnet)) is None:
        raise AzureError(
            HTTPStatus.NOT_FOUND,
            "InvalidResourceReference",
            f"Resource {subnet} referenced by agent pool {pool['name']} was not found. Please make sure that "
            "the referenced "
            "resource exists, and that both resources are in the same region.",
        )


def _require_version(cloud: Cloud, pool: Mapping[str, Any]) -> None:
    version = str(pool["orchestratorVersion"])
    if cloud.subscription.patch_of(version) is None:
        raise unsupported_version(cloud, f"Agent pool {pool['name']}", version)


def unsupported_version(cloud: Cloud, subject: str, version: str) -> AzureError:
    """The refusal of a Kubernetes version that is not offered."""
    offered = ", ".join(cloud.subscription.kubernetes_versions)
    return bad_request(
        "K8sVersionNotSupported",
        f"{subject} is on version {version}, which is not supported in this region. Please use [az aks "
        "get-versions] command "
        f"to get the supported version list in this region ({offered}). For more information, please check "
        "https://aka.ms/supported-version-list",
    )


def require_quota(cloud: Cloud, pools: Iterable[tuple[Mapping[str, Any], int]], region: str) -> None:
    """Refuse more vCPUs than the quota has left. pools: outputs of pools, and by how many machines each grows."""
    more: dict[str, int] = {}
    for pool, growth in pools:
        size = cloud.subscription.size(str(pool["vmSize"]))
        assert size
        more[size.series] = more.get(size.series, 0) + growth * size.vcpus
    used = usage(cloud, region)
    for series, required in more.items():
        offer = cloud.subscription.series[series]
        _within(offer.family, region, offer.vcpus, used.get(series, 0), required)
    _within("Total Regional", region, cloud.subscription.regional_vcpus, sum(used.values()), sum(more.values()))


def _within(family: str, region: str, limit: int, used: int, required: int) -> None:
    if required > 0 and used + required > limit:
        raise bad_request(
            "QuotaExceeded",
            f"Operation could not be completed as it results in exceeding approved {family} Cores quota. "
            "Additional details - "
            f"Deployment Model: Resource Manager, Location: {region}, Current Limit: {limit}, Current Usage: {used}, "
            f"Additional Required: {required}, (Minimum) New Limit Required: {used + required}. Setup Alerts "
            "when Quota "
            "reaches threshold. Learn more at https://aka.ms/quotamonitoringalerting . Submit a request for "
            "Quota increase "
            "at https://aka.ms/ProdportalCRP/#blade/Microsoft_Azure_Capacity/UsageAndQuota.ReactView by specifying "
            "parameters listed in the 'Details' section for deployment to succeed. Please read more about "
            "quota limits at "
            "https://docs.microsoft.com/en-us/azure/azure-supportability/per-vm-quota-requests",
        )


def usage(cloud: Cloud, region: str) -> dict[str, int]:
    """VCPUs in use in a region, by series."""
    used: dict[str, int] = {}
    for record in cloud.store.all(TYPE):
        size = cloud.subscription.size(str(record.outputs["vmSize"]))
        cluster = cloud.store.get(record.id[: record.id.casefold().rfind("/agentpools/")])
        if size and cluster and cluster.outputs["location"] == region:
            used[size.series] = used.get(size.series, 0) + int(record.outputs["count"]) * size.vcpus
    return used


def require_placement(pool: Mapping[str, Any], size: object, *, placed: bool) -> None:
    """A pool on one fabric is one placement group, and that has a limit."""
    if placed and isinstance(size, MachineSize) and int(pool["count"]) > _PLACEMENT_GROUP_MACHINES:
        raise bad_request(
            "InvalidParameter",
            f"The value {pool['count']} of parameter 'sku.capacity' is out of range. A scale set with "
            "singlePlacementGroup has "
            f"at most {_PLACEMENT_GROUP_MACHINES} instances.",
        )


def require_capacity(cloud: Cloud, record: Record) -> None:
    """Refuse, as Azure does after it has accepted, machines that it cannot place now."""
    size = str(record.outputs["vmSize"])
    if size not in cloud.subscription.capacity:
        return
    placed = sum(
        len(other.details.get("machines", []))
        for other in cloud.store.all(TYPE)
        if other.outputs["vmSize"] == size and other.id != record.id
    )
    if placed + int(record.outputs["count"]) > cloud.subscription.capacity[size]:
        raise AzureError(
            HTTPStatus.CONFLICT,
            "AllocationFailed",
            f"Provisioning of resource(s) for Agent Pool {record.outputs['name']} failed. Error: Allocation "
            "failed. We do not "
            f"have sufficient capacity for the requested VM size {size} in this region. Read more about "
            "improving likelihood "
            "of allocation success at https://aka.ms/allocation-guidance",
        )
