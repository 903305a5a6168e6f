"""Azure's requirements for an agent pool, inline or separate: size, count, zones, quota, and permitted changes."""

import re
from collections.abc import Mapping
from typing import Any, Final

from aks_infiniband.facts.catalog.machine import MachineSize
from pulumi_azure_native import containerservice

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import AzureError, refused
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
            raise refused("property-does-not-change", key=key)


def _in_range(name: str, key: str, value: Any, limits: tuple[int, int]) -> None:
    if not limits[0] <= int(value) <= limits[1]:
        raise refused("out-of-range", key=key, name=name, value=value, least=limits[0], most=limits[1])


def _require_ranges(pool: Mapping[str, Any], name: str) -> None:
    _in_range(name, "count", pool["count"], _COUNT.get(str(pool["mode"]), _COUNT["User"]))
    _in_range(name, "maxPods", pool["maxPods"], _MAX_PODS)
    if pool["osDiskSizeGB"]:
        _in_range(name, "osDiskSizeGB", pool["osDiskSizeGB"], _OS_DISK)


def _require_bounds(pool: Mapping[str, Any], name: str, before: Mapping[str, Any] | None) -> None:
    least, most, count = pool.get("minCount"), pool.get("maxCount"), int(pool["count"])
    if not pool.get("enableAutoScaling"):
        if least is not None or most is not None:
            raise refused("bounds-without-the-autoscaler", name=name)
        return
    if least is None or most is None or least > most:
        raise refused("autoscaler-without-bounds", name=name, least=least, most=most)
    if before and before.get("enableAutoScaling") and count != int(before["count"]):
        raise refused("count-with-the-autoscaler", name=name)
    if not least <= count <= most and not before:
        raise refused("count-outside-the-bounds", name=name, count=count, least=least, most=most)


def _require_spot(pool: Mapping[str, Any]) -> None:
    if pool.get("scaleSetPriority") != "Spot":
        return
    if pool["mode"] == "System":
        raise refused("spot-system-pool", name=pool["name"])
    settings = pool.get("upgradeSettings") or {}
    refusals = (
        ("maxSurge", "agentPoolProfile.upgrade.maxSurge", "max surge"),
        ("maxUnavailable", "agentPoolProfile.upgradeSettings.maxUnavailable", "maxUnavailable"),
    )
    for key, parameter, words in refusals:
        if settings.get(key):
            raise refused("spot-with-upgrade-settings", parameter=parameter, words=words)


def _require_size(cloud: Cloud, pool: Mapping[str, Any], region: str) -> None:
    name = pool.get("vmSize")
    if not name:
        raise refused("no-size")
    if not cloud.offers(str(name), region):
        raise refused("size-not-offered", name=name, region=region, offered=",".join(cloud.offered(region)))


def _require_disk(cloud: Cloud, pool: Mapping[str, Any]) -> None:
    """An ephemeral OS disk lies on the size's temporary disk (Azure/AKS issues 2672, 2694)."""
    name = str(pool["vmSize"])
    room, wanted = temporary_disk_gib(cloud.size(name), cloud.series(name)), int(pool["osDiskSizeGB"] or 0)
    if pool["osDiskType"] != "Ephemeral" or room is None:
        return
    if room == 0:
        raise refused("no-temporary-disk", name=name)
    if wanted > room:
        raise refused("os-disk-too-large", name=name, room=room * 1024**3, wanted=wanted * 1024**3)


def _require_zones(cloud: Cloud, pool: Mapping[str, Any], region: str) -> None:
    offered = cloud.subscription.regions[region]
    if wrong := [zone for zone in pool.get("availabilityZones") or [] if zone not in offered]:
        raise refused(
            "no-such-zone", zones=",".join(wrong), name=pool["name"], region=region, offered=",".join(offered)
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
        raise refused("version-has-long-term-support-only", subject=subject, patch=patch)


def _require_system(cloud: Cloud, pool: Mapping[str, Any], region: str) -> None:
    """Refuse an OS SKU or a snapshot that the size, or the version of Kubernetes, cannot run."""
    sku, version, name = str(pool["osSKU"]), str(pool["currentOrchestratorVersion"]), str(pool["vmSize"])
    size, system = cloud.size(name), system_of_sku(sku, version)
    if system is not None and sku not in _OS_SKUS:
        raise refused("no-such-os-sku", sku=sku)
    is_grace_blackwell = isinstance(size, MachineSize) and not size.placement_feature
    if is_grace_blackwell and (system is None or system.effective != "Ubuntu2404"):
        # AKS InfiniBand guide: GB200 and GB300 need Ubuntu 24.04.
        raise refused("os-sku-of-grace-blackwell", sku=sku, name=name)
    if system is None or version_key(version)[:2] < version_key(system.oldest):
        raise refused("os-sku-of-another-kubernetes", sku=sku, name=pool["name"], version=version)
    if system.effective == "AzureLinux3" and name.startswith("Standard_N") and not _AZURE_LINUX_GPUS.fullmatch(name):
        raise refused("os-sku-of-another-size", sku=sku, name=name)
    if source := (pool.get("creationData") or {}).get("sourceResourceId"):
        _require_snapshot(cloud, pool, str(source), system, region)


def _require_snapshot(cloud: Cloud, pool: Mapping[str, Any], source: str, system: NodeSystem, region: str) -> None:
    snapshot, size = snapshot_of(cloud, pool), cloud.size(str(pool["vmSize"]))
    if snapshot is None:
        raise refused("no-such-snapshot", source=source, name=pool["name"])
    architecture = architecture_of_image(snapshot.node_image_version)
    wanted = system_of_image(snapshot.node_image_version).effective
    if snapshot.region != region:
        raise refused("snapshot-of-another-region", there=snapshot.region, region=region)
    if size and size.architecture != architecture:
        raise refused("snapshot-of-another-architecture", architecture=architecture, vm_size=pool["vmSize"])
    if wanted != system.effective:
        raise refused("snapshot-of-another-os-sku", wanted=wanted, effective=system.effective)


def _unsupported_version(cloud: Cloud, subject: str, version: str) -> AzureError:
    """The refusal of a Kubernetes version that is not offered."""
    offered = ", ".join(cloud.subscription.kubernetes_versions)
    return refused("version-not-offered", subject=subject, version=version, offered=offered)
