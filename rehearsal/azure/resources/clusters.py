"""Managed clusters: one at a time, because there is one control plane; inline pools are made and deleted with it."""

from collections.abc import Mapping
from typing import Any, Final

from pulumi_azure_native import containerservice

from rehearsal.azure import naming, throttling
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.emptying import empty
from rehearsal.azure.errors import NotSimulatedError
from rehearsal.azure.kinds import Kind, Request
from rehearsal.azure.resources import (
    agent_pools,
    cluster_outputs,
    cluster_rules,
    network_rules,
    pool_capacity,
    pool_defaults,
    pool_machines,
    pool_rules,
    pool_upgrade,
)
from rehearsal.azure.resources.groups import base_outputs
from rehearsal.azure.store import Record


def _refuse_create(cloud: Cloud, request: Request) -> None:
    others, room = list(cloud.store.all(MANAGED_CLUSTER.pulumi_type)), len(cloud.control_planes())
    if len(others) >= room:
        there = ", ".join(naming.last_part(other.id) for other in others)
        raise NotSimulatedError(
            f"This rehearsal has control planes for {room} managed cluster{'s' * (room > 1)} at a time: {there}. "
            f"For {request.name} in addition, start it with --clusters {room + 1}; if {request.name} replaces a "
            "cluster, delete the old one first (deleteBeforeReplace)."
        )
    cluster_rules.require_cluster(cloud, request)
    cluster = _render(cloud, request)
    cluster_rules.require_node_group(cluster)
    region = cluster["location"]
    pool_capacity.require_cluster_quota(cloud, region)
    pools = cluster["agentPoolProfiles"]
    for pool in pools:
        pool_rules.require_pool(cloud, pool, cluster, before=None)
        network_rules.require_pool_network(cloud, pool, cluster)
    cluster_rules.require_system_pool(pools)
    cluster_rules.require_network(cloud, cluster)
    network_rules.require_way_out(cloud, cluster)
    network_rules.require_api_server_access(cluster, None)
    cluster_rules.require_login(cluster)
    pool_capacity.require_quota(cloud, [(pool, int(pool["count"])) for pool in pools], region)


def _refuse_update(cloud: Cloud, request: Request) -> None:
    record = request.current
    assert record
    throttling.take(cloud, request.id)
    agent_pools.refuse_conflict(record, *cloud.store.all(pool_defaults.TYPE, under=record.id))
    cluster_rules.require_cluster(cloud, request)
    cluster_rules.require_unchanged(cloud, request)
    cluster = _render(cloud, request)
    grown = []
    for pool in cluster["agentPoolProfiles"]:
        current = cloud.store.get(f"{record.id}/agentPools/{pool['name']}")
        if current is None:
            raise cluster_rules.new_inline_pool()
        pool_rules.require_pool(cloud, pool, cluster, before=current.outputs)
        grown.append((pool, int(pool["count"]) - int(current.outputs["count"])))
    cluster_rules.require_system_pool(cluster["agentPoolProfiles"])
    network_rules.require_way_out(cloud, cluster)
    network_rules.require_api_server_access(cluster, record.outputs)
    cluster_rules.require_login(cluster)
    pool_capacity.require_quota(cloud, grown, cluster["location"])


def _refuse_delete(_cloud: Cloud, record: Record) -> None:
    agent_pools.refuse_conflict(record)


def _render(cloud: Cloud, request: Request) -> dict[str, Any]:
    shown = base_outputs(MANAGED_CLUSTER.path, request, MANAGED_CLUSTER.arm_type, MANAGED_CLUSTER.api_version)
    return cluster_outputs.render(cloud, request, shown)


def _pool_record(cluster: Record, pool: Mapping[str, Any], details: dict[str, Any]) -> Record:
    group, name = cluster.id.split("/")[4], naming.last_part(cluster.id)
    inputs = {"resourceGroupName": group, "resourceName": name, "agentPoolName": pool["name"], **pool}
    shown = {"azureApiVersion": agent_pools.AGENT_POOL.api_version, "provisioningState": "Succeeded"}
    return Record(
        id=f"{cluster.id}/agentPools/{pool['name']}",
        pulumi_type=pool_defaults.TYPE,
        inputs=inputs,
        outputs={**pool, **shown},
        details=details,
    )


def _take_control_plane(cloud: Cloud, record: Record) -> None:
    """Give a cluster the first control plane that no other has; it keeps it to its end."""
    others = [other for other in cloud.store.all(MANAGED_CLUSTER.pulumi_type) if other is not record]
    taken = {other.details.get("controlPlane", 0) for other in others}
    free = (number for number in range(len(taken) + 1) if number not in taken)
    record.details.setdefault("controlPlane", next(free))


def _create(cloud: Cloud, record: Record) -> None:
    assert record.operation
    with cloud.clock.changed:
        _take_control_plane(cloud, record)
        for pool in record.outputs["agentPoolProfiles"]:
            if cloud.store.get(f"{record.id}/agentPools/{pool['name']}") is None:
                details = pool_machines.details(cloud, pool)
                cloud.store.put(_pool_record(record, pool, {**details, "provisioned": True}))
    cloud.clock.pause_until(record.operation.started + cloud.clock.latencies.seconds("cluster"))
    end = (
        record.operation.started
        + cloud.clock.latencies.seconds("cluster")
        + cloud.clock.latencies.seconds("systemPool")
    )
    for pool_record in cloud.store.all(pool_defaults.TYPE, under=record.id):
        pool_machines.grow(cloud, pool_record, end=end)


def _update(cloud: Cloud, record: Record) -> None:
    assert record.operation
    end = record.operation.started + cloud.clock.latencies.seconds("poolUpdate")
    cloud.clock.pause_until(end)
    for pool in record.outputs["agentPoolProfiles"]:
        pool_record = cloud.store.get(f"{record.id}/agentPools/{pool['name']}")
        if pool_record:
            with cloud.clock.changed:
                pool_record.outputs |= {**pool, "provisioningState": "Succeeded"}
                cloud.store.save()
            pool_upgrade.converge(cloud, pool_record, end=end)


def _delete(cloud: Cloud, record: Record) -> None:
    assert record.operation
    empty(cloud.cluster_api(record.id), cloud.clock)
    cloud.clock.pause_until(record.operation.started + cloud.clock.latencies.seconds("clusterDelete"))
    for pool in cloud.store.all(under=record.id):
        cloud.store.remove(pool.id)


MANAGED_CLUSTER: Final = Kind(
    pulumi_type="azure-native:containerservice:ManagedCluster",
    arguments=containerservice.ManagedClusterArgs,
    resource=containerservice.ManagedCluster,
    arm_type="Microsoft.ContainerService/ManagedClusters",
    path=(
        "/subscriptions/{subscriptionId}/resourcegroups/{resourceGroupName}/providers/Microsoft.ContainerService"
        "/managedClusters/{resourceName}"
    ),
    naming="random",
    name_rule=naming.MANAGED_CLUSTER,
    force_new=frozenset(
        {
            "diskEncryptionSetID",
            "dnsPrefix",
            "fqdnSubdomain",
            "linuxProfile",
            "location",
            "nodeResourceGroup",
            "windowsProfile",
            "networkProfile.serviceCidr",
            "networkProfile.serviceCidrs",
            "networkProfile.dnsServiceIP",
            "networkProfile.networkMode",
            "networkProfile.networkPlugin",
            "networkProfile.networkPluginMode",
            "networkProfile.podCidr",
            "networkProfile.networkDataplane",
            "networkProfile.networkPolicy",
            "networkProfile.outboundType",
        }
    ),
    refuse_create=_refuse_create,
    refuse_update=_refuse_update,
    refuse_delete=_refuse_delete,
    render=_render,
    create=_create,
    update=_update,
    delete=_delete,
)
