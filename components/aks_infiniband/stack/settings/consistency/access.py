"""Names of what is made, and who reaches and administers the cluster."""

from collections.abc import Iterator
from typing import Final

from aks_infiniband.stack.settings.reading import Inconsistency, Reading
from aks_infiniband.workload.pods import NAMESPACE

_LONGEST_GROUP: Final = 80
"""Characters of a node resource group's name (Azure, "Troubleshoot common AKS problems": MC_group_cluster_region)."""


def _node_group(reading: Reading) -> Iterator[Inconsistency]:
    cluster = reading.settings.cluster
    if cluster is None or cluster.node_resource_group is None:
        return
    given, path = cluster.node_resource_group, ("cluster", "nodeResourceGroup")
    if len(given) > _LONGEST_GROUP:
        yield Inconsistency(path, given, f"must have {_LONGEST_GROUP} characters at most")
    if given.lower() == (cluster.resource_group or cluster.name or "").lower():
        yield Inconsistency(path, given, "must not be the cluster's own: AKS makes a second group")


def _default_node_group(reading: Reading) -> Iterator[Inconsistency]:
    cluster = reading.settings.cluster
    if cluster is None or cluster.node_resource_group is not None or cluster.name is None:
        return
    default = f"MC_{cluster.resource_group or cluster.name}_{cluster.name}_{reading.settings.location}"
    if len(default) > _LONGEST_GROUP:
        reason = (
            f"makes AKS name the node resource group {default}, {len(default)} characters of {_LONGEST_GROUP}: "
            "choose a shorter name or resourceGroup, or give nodeResourceGroup"
        )
        yield Inconsistency(("cluster", "name"), cluster.name, reason)


def _api_server(reading: Reading) -> Iterator[Inconsistency]:
    cluster = reading.settings.cluster
    if cluster is not None and cluster.api_server.private and cluster.api_server.authorized_ip_ranges:
        yield Inconsistency(
            ("cluster", "apiServer", "authorizedIpRanges"),
            list(map(str, cluster.api_server.authorized_ip_ranges)),
            "must be left out with private: a private API server has no public address to open",
        )


def _local_accounts(reading: Reading) -> Iterator[Inconsistency]:
    cluster = reading.settings.cluster
    if cluster is not None and not cluster.access.entra_id and not cluster.access.local_accounts:
        reason = "must be true without entraId: nobody could log in; set entraId: true"
        yield Inconsistency(("cluster", "access", "localAccounts"), False, reason)


def _entra_id_only(reading: Reading) -> Iterator[Inconsistency]:
    cluster = reading.settings.cluster
    if cluster is None or cluster.access.entra_id:
        return
    for key, value in cluster.access.given("admin_group_object_ids", "login"):
        reason = "says nothing without entraId: set entraId: true, or leave it out"
        yield Inconsistency(("cluster", "access", key), value, reason)


def _namespaces(reading: Reading) -> Iterator[Inconsistency]:
    given = reading.settings.workload.namespaces
    for place, namespace in enumerate(given):
        path = ("workload", "namespaces", place)
        if namespace == NAMESPACE:
            yield Inconsistency(path, namespace, "has the settings anyway: the program makes it; list other namespaces")
        elif namespace in given[:place]:
            yield Inconsistency(path, namespace, "must be listed once")


STACK = (_node_group, _default_node_group, _api_server, _local_accounts, _entra_id_only, _namespaces)
POOL = ()
