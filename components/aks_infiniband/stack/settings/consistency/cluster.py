"""The cluster: made or existing, its version, its names, and who reaches and administers it."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Final

from aks_infiniband.facts.azure_names import LONGEST_NODE_GROUP, REGIONS_OF, node_group
from aks_infiniband.facts.kubernetes import RELEASES, supported
from aks_infiniband.handwritten.form import did_you_mean
from aks_infiniband.stack.settings.cluster import ClusterSettings
from aks_infiniband.stack.settings.mistakes import Mistake, Path, wrong
from aks_infiniband.stack.settings.reading import Reading, known, listed_once

_AS_LABEL: Final = r"[A-Za-z0-9][A-Za-z0-9_.()-]*"
"""AKS labels the nodes with the node resource group's name, cut to a label's length, with - for parentheses
(Azure/AgentBaker, normalizeResourceGroupNameForLabel, read 2026-11-23). That nodes do not join with any other name is
assumed."""
_DAYS_TO_A_MINOR: Final = 100
"""Kubernetes makes three minor versions a year (Kubernetes, "Releases"), and AKS offers each a few months later."""


def today() -> date:
    """In UTC, as Azure counts."""
    return datetime.now(UTC).date()


def _one_cluster(reading: Reading) -> Iterator[Mistake]:
    made = reading.settings.cluster is not None
    if made and not reading.in_azure:
        yield wrong(("existingCluster",), None, "cannot be given with aks-infiniband:cluster: keep one of them")
    elif not made and reading.in_azure:
        reason = (
            'is missing: give at least kubernetesVersion, such as {kubernetesVersion: "1.35"}; '
            "or name a cluster that is there under aks-infiniband:existingCluster"
        )
        yield wrong(("cluster",), None, reason)


def _location(reading: Reading) -> Iterator[Mistake]:
    location, made = reading.settings.location, reading.settings.cluster is not None
    if made and reading.in_azure and location is None:
        yield wrong(("location",), None, "is missing; it must name an Azure region, such as southcentralus")
    if made and location is not None and location not in reading.regions:
        hint = did_you_mean(location, list(reading.regions))
        reason = (
            f"is not a known Azure region ({REGIONS_OF}); {hint}a new one, or one of another cloud, is named "
            f"under aks-infiniband:regions: {{{location}: ['1', '2', '3']}}, with its availability zones"
        )
        yield wrong(("location",), location, reason)
    if not made and not reading.in_azure and location is not None:
        reason = "is for a cluster that Azure's resources describe, not for an existing cluster: remove it"
        yield wrong(("location",), location, reason)


def _zones(reading: Reading) -> Iterator[Mistake]:
    """Machines stand in zones that the region has."""
    there = reading.regions.get(reading.settings.location or "")
    pools = [(pool.path("zones"), zones) for pool, zones in known(reading.pools, lambda pool: pool.given.zones)]
    system = known([reading], lambda reading: reading.cluster.system_pool.zones)
    own: list[tuple[Path, Sequence[str]]] = [(("cluster", "systemPool", "zones"), zones) for _, zones in system]
    for path, zones in own:
        yield from listed_once(path, zones)
    for path, zones in [*own, *pools] if there is not None else ():
        if missing := sorted(set(zones) - set(there or ())):
            has = f"has {', '.join(there)}" if there else "has none: leave it out"
            yield wrong(path, list(zones), f"must be zones of {reading.settings.location}, which {has}; no {missing}")


def _exists(reading: Reading) -> Iterator[Mistake]:
    version, newest = reading.kubernetes, max(RELEASES)
    coming = newest[1] + 1 + max(0, (today() - RELEASES[newest].available).days) // _DAYS_TO_A_MINOR
    if version > (newest[0], coming):
        reason = f"is not a Kubernetes version: AKS has {'.'.join(map(str, newest))}, and {newest[0]}.{coming} may come"
        yield wrong(("cluster", "kubernetesVersion"), reading.cluster.kubernetes_version, reason)


def _supported(reading: Reading) -> Iterator[Mistake]:
    """AKS makes no cluster of a version whose support has ended."""
    version, cluster, now = reading.kubernetes, reading.cluster, today()
    if version not in RELEASES or now <= RELEASES[version].last_day(cluster.support_plan):
        return
    release, offered = RELEASES[version], ", ".join(supported(now, cluster.support_plan))
    reason = f"must be one of {offered}: AKS supports this one until {release.last_day(cluster.support_plan)} only"
    if now <= release.long_term_end:
        reason += f", or until {release.long_term_end} with supportPlan AKSLongTermSupport"
    yield wrong(("cluster", "kubernetesVersion"), cluster.kubernetes_version, reason)


def _group(reading: Reading) -> Iterator[Mistake]:
    group = reading.cluster.resource_group
    if group is not None and reading.cluster.node_resource_group is None and not re.fullmatch(_AS_LABEL, f"MC_{group}"):
        reason = "must have only letters a to z, or nodeResourceGroup be given: AKS labels the nodes with both names"
        yield wrong(("cluster", "resourceGroup"), group, reason)


def _node_group(reading: Reading) -> Iterator[Mistake]:
    cluster, path = reading.cluster, ("cluster", "nodeResourceGroup")
    group = cluster.node_resource_group
    if group is None:
        return
    if len(group) > LONGEST_NODE_GROUP:
        yield wrong(path, group, f"must have {LONGEST_NODE_GROUP} characters at most")
    if not re.fullmatch(_AS_LABEL, group):
        yield wrong(
            path, group, "must begin with a letter or digit, and have only letters a to z: it is a label of the nodes"
        )
    if group.lower() == (cluster.resource_group or cluster.name or "").lower():
        yield wrong(path, group, "must not be the cluster's own: AKS makes a second group")


def _default_node_group(reading: Reading) -> Iterator[Mistake]:
    cluster = reading.cluster
    if cluster.name is not None:
        try:
            fitting(cluster.name, cluster, reading.settings.location)
        except ValueError as error:
            yield wrong(("cluster", "name"), cluster.name, str(error))


def fitting(name: str, cluster: ClusterSettings, location: str | None) -> None:
    """Raises ValueError for a cluster's name of which AKS makes no name of a node resource group."""
    if cluster.node_resource_group is not None:
        return
    default = node_group(cluster.resource_group or name, name, location or "")
    if len(default) > LONGEST_NODE_GROUP:
        raise ValueError(
            f"makes AKS name the node resource group {default}, {len(default)} characters of {LONGEST_NODE_GROUP}: "
            "choose a shorter name or resourceGroup, or give nodeResourceGroup"
        )


def _tags(reading: Reading) -> Iterator[Mistake]:
    """Azure ignores case in names, and AKS takes one of such names (azure-aks-docs 6443f31, use-tags.md)."""
    first: dict[str, str] = {}
    for name in reading.cluster.tags:
        other = first.setdefault(name.lower(), name)
        if other != name:
            reason = f"must differ from {other!r} in more than upper and lower case: for Azure they are one tag"
            yield wrong(("cluster", "tags", name), None, reason)


def _api_server(reading: Reading) -> Iterator[Mistake]:
    access = reading.cluster.api_server
    if access.private and access.authorized_ip_ranges:
        reason = "must be left out with private: a private API server does not have a public address to open"
        path = ("cluster", "apiServer", "authorizedIpRanges")
        yield wrong(path, list(map(str, access.authorized_ip_ranges)), reason)


def _local_accounts(reading: Reading) -> Iterator[Mistake]:
    access = reading.cluster.access
    if not access.entra_id and not access.local_accounts:
        reason = "must be true without entraId: no user could log in; set entraId: true"
        yield wrong(("cluster", "access", "localAccounts"), False, reason)


def _entra_id_only(reading: Reading) -> Iterator[Mistake]:
    access = reading.cluster.access
    if not access.entra_id:
        for key, value in access.given("admin_group_object_ids", "login"):
            reason = "says nothing without entraId: set entraId: true, or leave it out"
            yield wrong(("cluster", "access", key), value, reason)


STACK = (
    *(_one_cluster, _location, _zones, _exists, _supported, _group, _node_group, _default_node_group, _tags),
    *(_api_server, _local_accounts, _entra_id_only),
)
POOL = ()
