"""Azure Resource Manager's answers to a GET of resource groups, and of the resources in one."""

from collections.abc import Mapping
from typing import Any, Final

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import refused
from rehearsal.azure.naming import last_part
from rehearsal.azure.store import Record

_SUBNET, _POOL = "azure-native:network:Subnet", "azure-native:containerservice:AgentPool"
_GROUP, _ASSIGNMENT = "azure-native:resources:ResourceGroup", "azure-native:authorization:RoleAssignment"
_CLUSTER: Final = "azure-native:containerservice:ManagedCluster"
Body = Mapping[str, Any]


def groups(cloud: Cloud, _own: str, _filter: str) -> Body:
    """The groups that were made, and for each cluster the one in which AKS keeps its machines."""
    made = [{"name": last_part(record.id), **_placed(record)} for record in cloud.store.all(_GROUP)]
    of_aks = [
        {"name": record.outputs["nodeResourceGroup"], **_placed(record), "managedBy": record.id}
        for record in cloud.store.all(_CLUSTER)
    ]
    return {"value": [*made, *of_aks]}


def group(cloud: Cloud, own: str, filter_: str, name: str) -> Body:
    """One of them. Raises AzureError if it is not there."""
    for candidate in groups(cloud, own, filter_)["value"]:
        if candidate["name"].casefold() == name.casefold():
            return dict(candidate)
    raise refused("no-such-group", group=name)


def _placed(record: Record) -> Body:
    return {"id": record.id, "location": record.outputs["location"]}


def in_group(cloud: Cloud, own: str, _filter: str, group: str) -> Body:
    """The independent resources in a group: subnets, pools and role assignments are parts of others."""
    under = f"{own}/resourceGroups/{group}"
    ids = [
        record.id for record in cloud.store.all(under=under) if record.pulumi_type not in (_SUBNET, _POOL, _ASSIGNMENT)
    ]
    scale_sets = [
        f"{own}/resourceGroups/{group}/providers/Microsoft.Compute/virtualMachineScaleSets/aks-{last_part(pool.id)}"
        for cluster in cloud.store.all(_CLUSTER)
        if str(cluster.outputs["nodeResourceGroup"]).casefold() == group.casefold()
        for pool in cloud.store.all(_POOL, under=cluster.id)
    ]
    if not ids and not scale_sets and cloud.store.get(under) is None:
        raise refused("no-such-group", group=group)
    return {"value": [{"id": resource} for resource in (*ids, *scale_sets)]}
