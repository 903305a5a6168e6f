"""AKS's order of versions of Kubernetes: of the control plane, and of its pools.

The words are Azure's if a source is named (tests/field_recordings/azure-errors.yaml), and assumed else.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import AzureError, refused
from rehearsal.azure.subscription import version_key

_FURTHEST_BEHIND: Final = 3
"""Minor versions that a pool may be behind its control plane, from 1.28 on (azure-aks-docs fb060ab,
upgrade-aks-control-plane.md)."""
_DRAIN_MINUTES: Final = (5, 1440)
_SOAK_MINUTES: Final = (0, 30)
"""The same, upgrade-aks-node-pools-rolling.md."""


def upgrades(cloud: Cloud, version: str, *, long_term: bool) -> list[str]:
    """The versions that a control plane of a version may have next: none skips a minor version."""
    subscription, now = cloud.subscription, version_key(version)
    offered = (*subscription.kubernetes_versions, *(subscription.long_term_support_versions if long_term else ()))
    return sorted(
        (each for each in offered if now < version_key(each) and version_key(each)[1] - now[1] <= 1), key=version_key
    )


def require_next(cloud: Cloud, running: str, target: str, cluster: Mapping[str, Any]) -> None:
    """Refuse a control plane that would skip a minor version."""
    long_term = cluster.get("supportPlan") == "AKSLongTermSupport"
    allowed = upgrades(cloud, running, long_term=long_term)
    if version_key(target) > version_key(running) and target not in allowed:
        raise refused("version-is-not-the-next", running=running, target=target, allowed=" ".join(reversed(allowed)))


def require_skew(pools: Sequence[Mapping[str, Any]], control_plane: str) -> None:
    """Refuse a control plane that leaves a pool too far behind."""
    for pool in pools:
        version = str(pool["currentOrchestratorVersion"])
        minor, minor_above = version_key(version)[1], version_key(control_plane)[1]
        if minor_above - minor > _FURTHEST_BEHIND:
            raise _incompatible(
                version,
                control_plane,
                f"Minor version of node pool cannot be more than {_FURTHEST_BEHIND} versions less than control plane's "
                f"version. Minor version of node pool is {minor} and control plane is {minor_above}",
            )


def require_pool_version(pool: Mapping[str, Any], cluster: Mapping[str, Any]) -> None:
    """Refuse a pool ahead of its control plane, and what AKS does not take of how it is upgraded."""
    version, above = str(pool["currentOrchestratorVersion"]), str(cluster["currentKubernetesVersion"])
    minor, minor_above = version_key(version)[1], version_key(above)[1]
    if minor > minor_above:
        raise _incompatible(
            version,
            above,
            f"Minor version of node pool version {minor} is bigger than control plane version {minor_above}",
        )
    if version_key(version) > version_key(above):
        raise _incompatible(version, above, "Node pool version cannot be greater than control plane version")
    settings = pool.get("upgradeSettings") or {}
    for key, (least, most) in (
        ("drainTimeoutInMinutes", _DRAIN_MINUTES),
        ("nodeSoakDurationInMinutes", _SOAK_MINUTES),
    ):
        if settings.get(key) is not None and not least <= int(settings[key]) <= most:
            raise refused("upgrade-setting-out-of-range", key=key, value=settings[key], least=least, most=most)
    if pool["mode"] == "System" and str(settings.get("maxUnavailable") or "0").rstrip("%") != "0":
        raise refused("system-pool-with-unavailable", name=pool["name"])


def _incompatible(pool: str, control_plane: str, why: str) -> AzureError:
    """Recorded: rancher/rancher issue 33426 (2021-06-29), MicrosoftDocs/azure-dev-docs issue 1034 (2023-01-20)."""
    return refused("versions-are-incompatible", pool=pool, control_plane=control_plane, why=why)
