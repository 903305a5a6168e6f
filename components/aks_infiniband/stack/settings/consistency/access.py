"""Names of what is made, and who reaches and administers the cluster."""

from collections.abc import Iterator
from typing import Final

from aks_infiniband.stack.settings.cluster import AccessSettings, ApiServerSettings, ClusterSettings
from aks_infiniband.stack.settings.consistency.seen import Inconsistency, Seen

_LONGEST_GROUP: Final = 80
"""Characters of a node resource group's name (Azure, "Troubleshoot common AKS problems": MC_group_cluster_region)."""
_WORKLOADS: Final = "aks-infiniband"


def check(seen: Seen) -> Iterator[Inconsistency]:
    """What Azure would refuse of names and of access."""
    cluster = seen.cluster
    if cluster is not None:
        yield from _groups(cluster, seen.settings.location)
        if cluster.api_server is not None:
            yield from _api_server(cluster.api_server)
        if cluster.access is not None:
            yield from _access(seen, cluster.access)
    yield from _namespaces(seen)


def _groups(cluster: ClusterSettings, location: str | None) -> Iterator[Inconsistency]:
    given, group = cluster.node_resource_group, cluster.resource_group or cluster.name
    path = ("cluster", "nodeResourceGroup")
    if given is not None and given.lower() == (group or "").lower():
        yield Inconsistency(path, given, "must not be the cluster's own: AKS makes a second group")
    if given is not None and len(given) > _LONGEST_GROUP:
        yield Inconsistency(path, given, f"must have {_LONGEST_GROUP} characters at most")
    if given is None and cluster.name and location:
        default = f"MC_{group}_{cluster.name}_{location}"
        if len(default) > _LONGEST_GROUP:
            reason = (
                f"makes AKS name the node resource group {default}, {len(default)} characters of {_LONGEST_GROUP}: "
                "choose a shorter name or resourceGroup, or give nodeResourceGroup"
            )
            yield Inconsistency(("cluster", "name"), cluster.name, reason)


def _api_server(api_server: ApiServerSettings) -> Iterator[Inconsistency]:
    if api_server.private and api_server.authorized_ip_ranges:
        yield Inconsistency(
            ("cluster", "apiServer", "authorizedIpRanges"),
            [str(one) for one in api_server.authorized_ip_ranges],
            "must be left out with private: a private API server has no public address to open",
        )


def _access(seen: Seen, access: AccessSettings) -> Iterator[Inconsistency]:
    path = ("cluster", "access")
    if access.entra_id is not False or seen.is_wrong(*path, "entraId"):
        return
    if access.local_accounts is False:
        reason = "must be true without entraId: nobody could log in; set entraId: true"
        yield Inconsistency((*path, "localAccounts"), False, reason)
    for name, key in (("admin_group_object_ids", "adminGroupObjectIds"), ("login", "login")):
        if name in access.model_fields_set and not seen.is_wrong(*path, key):
            reason = "says nothing without entraId: set entraId: true, or leave it out"
            yield Inconsistency((*path, key), getattr(access, name), reason)


def _namespaces(seen: Seen) -> Iterator[Inconsistency]:
    workload = seen.settings.workload
    given = (workload and workload.namespaces) or ()
    for place, namespace in enumerate(given):
        path = ("workload", "namespaces", place)
        if namespace == _WORKLOADS:
            yield Inconsistency(path, namespace, "has the settings anyway: the program makes it; list other namespaces")
        elif namespace in given[:place]:
            yield Inconsistency(path, namespace, "must be listed once")
