"""The leftovers of a stack in Azure and in a cluster, as `teardown` names them."""

from typing import Any, Final

from aks_infiniband_cli.azure.answers import Group
from aks_infiniband_cli.teardown.left import cluster_in, groups_of, in_azure, in_cluster, stack_in

from tests.cases import Case

_CLUSTER: Final = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c"
_KINDS: Final = ("namespaces", "nodes", "definitions", "customs", "ours")


def outcome_of_leftovers(case: Case) -> dict[str, Any]:
    """The signs of a stack that lives, and each leftover with the command that removes it. `groups` have resources of
    Azure by the group's name; the other keys have objects of a cluster.
    """
    groups = [Group(name=name, managed_by="", resources=tuple(ids)) for name, ids in case.get("groups", {}).items()]
    objects: dict[str, Any] = {kind: case.get(kind, []) for kind in _KINDS}
    left = [*in_azure(groups, "s"), *in_cluster(**objects, kept=case.get("kept", ()))]
    lives = cluster_in(groups, _CLUSTER) or stack_in(objects["namespaces"], objects["customs"])
    return {"lives": lives, "left": {orphan.what: orphan.remedy for orphan in left}}


def outcome_of_group(case: Case) -> str:
    """The owner of a resource group: the stack of cluster c, or another."""
    group = Group(name=case["name"], managed_by=case.get("managed_by", ""))
    node_group = case.get("node_group")
    known = groups_of([group], cluster_id=_CLUSTER, location="eastus", node_group=node_group)
    return "the stack" if known == [group] else "another"
