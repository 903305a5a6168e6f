"""Azure's requirements for an agent pool, inline or separate: size, count, zones, quota, and permitted changes."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from aks_infiniband.facts.catalog.machine import MachineSize
from pulumi_azure_native import containerservice

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import AzureError, bad_request
from rehearsal.azure.node_images import NodeSystem, architecture_of_image, system_of_image, system_of_sku
from rehearsal.azure.resources import version_rules
from rehearsal.azure.resources.pool_defaults import IMMUTABLE, snapshot_of, temporary_disk_gib
from rehearsal.azure.subscription import version_key

_COUNT: Final = {"System": (1, 1000), "User": (0, 1000), "Gateway": (2, 1000)}
"""Counts by mode: AKS REST API, `count` of an agent pool."""
_MAX_PODS: Final = (10, 250)
"""AKS REST API and "Configure maximum pods"."""
_OS_DISK: Final = (30, 2048)
"""GB; AKS's smallest and largest OS disk."""
_OS_SKUS: Final = frozenset(sku.value for sku in containerservice.OSSKU)
"""SKUs of the API version that azure-native sends: Ubuntu2404 is in the specifications from 2025-10-01 on
(azure-rest-api-specs pull request 38610). That AKS refuses what a version does not have is assumed; its words are
recorded (tests/field_recordings/azure-errors.yaml).
"""
_AZURE_LINUX_GPUS: Final = re.compile(
    r"Standard_(NC\d+r?s_v3|ND40rs_v2|NC\d+as_T4_v3|N[CD]\d+\w*_A100_v4|ND96asr_v4|NC\d+ads_H100_v5)"
)
"""Sizes with GPUs that AKS has under Azure Linux: V100, T4, A100 and NCads H100 v5 (MicrosoftDocs/azure-aks-docs
fb060ab, intro-azure-linux.md, 2026-08-21). Any other is answered with InvalidOSSKU (Azure/AKS issue 4602); the words
after "details:" are assumed."""


def require_pool(
    cloud: Cloud, pool: Mapping[str, Any], cluster: Mapping[str, Any], *, before: Mapping[str, Any] | None
) -> None:
    """Refuse what AKS would refuse of a pool with all its defaults. before: the pool as it is."""
    name, region = str(pool["name"]), str(cluster["location"])
    _require_ranges(pool, name)
    _require_bounds(pool, name, before)
    _require_spot(pool)
    _require_size(cloud, pool, region)
    _require_disk(cloud, pool)
    _require_zones(cloud, pool, region)
    require_version(cloud, f"Agent pool {name}", str(pool["orchestratorVersion"]), cluster)
    version_rules.require_pool_version(pool, cluster)
    _require_system(cloud, pool, region)
    for key in IMMUTABLE if before else ():
        if before and (pool.get(key) or None) != (before.get(key) or None):  # off is as left out
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


def _require_bounds(pool: Mapping[str, Any], name: str, before: Mapping[str, Any] | None) -> None:
    least, most, count = pool.get("minCount"), pool.get("maxCount"), int(pool["count"])
    if not pool.get("enableAutoScaling"):
        if least is not None or most is not None:
            # ksctl PR 629: AKS refuses the bounds without the autoscaler.
            raise bad_request(
                "InvalidParameter",
                f"agentPoolProfile.minCount and maxCount of agent pool '{name}' can only be set when "
                "enableAutoScaling is true.",
            )
        return
    if least is None or most is None or least > most:
        raise bad_request(
            "InvalidParameter",
            f"agentPoolProfile.enableAutoScaling is true for agent pool '{name}', so minCount and "
            f"maxCount must be set, minCount not above maxCount; they are {least} and {most}.",
        )
    if before and before.get("enableAutoScaling") and count != int(before["count"]):
        # hashicorp/terraform-provider-azurerm PR 4543, Azure/AKS issue 1627: the count is the current one, or absent.
        raise bad_request(
            "InvalidParameter",
            f"Cannot manually scale AgentPool '{name}' of an AKS cluster with cluster autoscaler enabled. Please "
            "disable cluster autoscaler in the cluster to manually scale.",
        )
    if not least <= count <= most and not before:
        raise bad_request(
            "InvalidParameter",
            f"The value of parameter agentPoolProfile.count is invalid. Error details: the count of agent pool "
            f"'{name}' is {count}. It must be between minCount {least} and maxCount {most}. Please see "
            "https://aka.ms/aks-naming-rules for more details.",
            target="agentPoolProfile.count",
        )


def _require_spot(pool: Mapping[str, Any]) -> None:
    if pool.get("scaleSetPriority") != "Spot":
        return
    if pool["mode"] == "System":
        raise bad_request(
            "InvalidParameter",
            f"Agent pool '{pool['name']}' is a system pool and cannot be a spot pool.",
            target="agentPoolProfile.scaleSetPriority",
        )
    # XenitAB/terraform-modules PR 755; hashicorp/terraform-provider-azurerm PR 31129.
    settings = pool.get("upgradeSettings") or {}
    refusals = (
        ("maxSurge", "agentPoolProfile.upgrade.maxSurge", "max surge"),
        ("maxUnavailable", "agentPoolProfile.upgradeSettings.maxUnavailable", "maxUnavailable"),
    )
    for key, parameter, words in refusals:
        if settings.get(key):
            raise bad_request(
                "InvalidParameter",
                f"The value of parameter {parameter} is invalid. Error details: Spot pools can't set {words}. Please "
                "see https://aka.ms/aks-naming-rules for more details.",
                target=parameter,
            )


def _require_size(cloud: Cloud, pool: Mapping[str, Any], region: str) -> None:
    name = pool.get("vmSize")
    if not name:
        raise bad_request("InvalidParameter", "Required parameter agentPoolProfile.vmSize is missing (null).")
    if not cloud.offers(str(name), region):
        raise bad_request(
            "BadRequest",
            f"The VM size of {name} is not allowed in your subscription in location '{region}'. The available "
            "VM sizes are "
            f"'{','.join(cloud.offered(region))}'. For more details, please visit "
            "https://aka.ms/aks/quotas-skus-regions",
        )


def _require_disk(cloud: Cloud, pool: Mapping[str, Any]) -> None:
    """An ephemeral OS disk lies on the size's temporary disk (Azure/AKS issues 2672, 2694)."""
    name = str(pool["vmSize"])
    room, wanted = temporary_disk_gib(cloud.size(name), cloud.series(name)), int(pool["osDiskSizeGB"] or 0)
    if pool["osDiskType"] != "Ephemeral" or room is None:
        return
    if room == 0:
        raise bad_request(
            "VMSizeDoesNotSupportEphemeralOS", f"The Virtual Machine size {name} does not support Ephemeral OS disk."
        )
    if wanted > room:
        raise bad_request(
            "VMCacheSizeTooSmall",
            f"The virtual machine size {name} has a cache size of {room * 1024**3} bytes, but the OS disk requires "
            f"{wanted * 1024**3} bytes. Use a VM size with larger cache or disable ephemeral OS.",
        )


def _require_zones(cloud: Cloud, pool: Mapping[str, Any], region: str) -> None:
    offered = cloud.subscription.regions[region]
    if wrong := [zone for zone in pool.get("availabilityZones") or [] if zone not in offered]:
        raise bad_request(
            "AvailabilityZoneNotSupported",
            f"The zone(s) '{','.join(wrong)}' for resource '{pool['name']}' is not supported. The supported zones for "
            f"location '{region}' are '{','.join(offered)}'",
        )


def require_version(cloud: Cloud, subject: str, version: str, cluster: Mapping[str, Any]) -> None:
    """Refuse a version of Kubernetes that AKS does not have, or has with long-term support only.

    The words are Azure's (tests/field_recordings/azure-errors.yaml).
    """
    patch = cloud.subscription.patch_of(version)
    if patch is None:
        raise _unsupported_version(cloud, subject, version)
    premium = (cluster.get("sku") or {}).get("tier") == "Premium"
    long_term = premium and cluster.get("supportPlan") == "AKSLongTermSupport"
    if patch in cloud.subscription.long_term_support_versions and not long_term:
        raise bad_request(
            "K8sVersionNotSupported",
            f"{subject} is on version {patch}, which is only available for Long-Term Support (LTS). If you intend to "
            "onboard to LTS, please ensure the cluster is in Premium tier and LTS support plan (see "
            "https://aka.ms/aks/enable-lts). Otherwise, use [az aks get-versions] command to get the supported version "
            "list in this region. For more information, please check https://aka.ms/supported-version-list",
        )


def _require_system(cloud: Cloud, pool: Mapping[str, Any], region: str) -> None:
    """Refuse an OS SKU or a snapshot that the size, or the version of Kubernetes, cannot run."""
    sku, version, name = str(pool["osSKU"]), str(pool["currentOrchestratorVersion"]), str(pool["vmSize"])
    size, system = cloud.size(name), system_of_sku(sku, version)
    if system is not None and sku not in _OS_SKUS:
        raise bad_request("InvalidOSSKU", f"OSSKU='{sku}' is invalid, details: Unrecognized OSSKU")
    is_grace_blackwell = isinstance(size, MachineSize) and not size.placement_feature
    if is_grace_blackwell and (system is None or system.effective != "Ubuntu2404"):
        # AKS InfiniBand guide: GB200 and GB300 need Ubuntu 24.04.
        raise _invalid(
            "osSKU", f"OS SKU '{sku}' is not supported with VM size '{name}'. Supported OS SKUs are: Ubuntu2404."
        )
    if system is None or version_key(version)[:2] < version_key(system.oldest):
        raise _invalid(
            "osSKU",
            f"OS SKU '{sku}' of agent pool '{pool['name']}' is not supported with Kubernetes version {version}.",
        )
    if system.effective == "AzureLinux3" and name.startswith("Standard_N") and not _AZURE_LINUX_GPUS.fullmatch(name):
        raise bad_request(
            "InvalidOSSKU", f"OSSKU='{sku}' is invalid, details: OSSKU='{sku}' is not supported with VM size '{name}'."
        )
    if source := (pool.get("creationData") or {}).get("sourceResourceId"):
        _require_snapshot(cloud, pool, str(source), system, region)


def _require_snapshot(cloud: Cloud, pool: Mapping[str, Any], source: str, system: NodeSystem, region: str) -> None:
    snapshot, size = snapshot_of(cloud, pool), cloud.size(str(pool["vmSize"]))
    if snapshot is None:
        raise AzureError(
            HTTPStatus.NOT_FOUND,
            "ResourceNotFound",
            f"The snapshot '{source}' of agent pool '{pool['name']}' was not found.",
        )
    architecture = architecture_of_image(snapshot.node_image_version)
    wanted = system_of_image(snapshot.node_image_version).effective
    if snapshot.region != region:
        raise _invalid("creationData", f"the snapshot is in location '{snapshot.region}', not '{region}'")
    if size and size.architecture != architecture:
        raise _invalid(
            "creationData", f"the snapshot's node image is for {architecture}, VM size '{pool['vmSize']}' is not"
        )
    if wanted != system.effective:
        raise _invalid("creationData", f"the snapshot's OS SKU is {wanted}, the agent pool's is {system.effective}")


def _invalid(key: str, reason: str) -> AzureError:
    return bad_request(
        "InvalidParameter",
        f"The value of parameter agentPoolProfile.{key} is invalid. Error details: {reason}. Please see "
        "https://aka.ms/aks-naming-rules for more details.",
        target=f"agentPoolProfile.{key}",
    )


def _unsupported_version(cloud: Cloud, subject: str, version: str) -> AzureError:
    """The refusal of a Kubernetes version that is not offered."""
    offered = ", ".join(cloud.subscription.kubernetes_versions)
    return bad_request(
        "K8sVersionNotSupported",
        f"{subject} is on version {version}, which is not supported in this region. Please use [az aks get-versions] "
        f"command to get the supported version list in this region ({offered}). For more information, please check "
        "https://aka.ms/supported-version-list",
    )
