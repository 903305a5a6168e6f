"""Agent pools: what Azure refuses of one, what it shows, and how long it takes."""

import datetime
from typing import Any, Final

from aks_infiniband.facts.catalog.machine import MachineSize
from pulumi_azure_native import containerservice

from rehearsal.azure import naming, throttling
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import AzureError, not_found, refused
from rehearsal.azure.kinds import Kind, Request
from rehearsal.azure.resources import (
    network_rules,
    pool_capacity,
    pool_defaults,
    pool_machines,
    pool_reserved,
    pool_rules,
    pool_upgrade,
)
from rehearsal.azure.resources.groups import base_outputs, require_group
from rehearsal.azure.resources.pool_machines import cluster_of
from rehearsal.azure.store import Record


def refuse_conflict(cluster: Record, *others: Record | None) -> None:
    """Refuse an operation while another one is in progress on the cluster or the same pool."""
    for record, what in [(cluster, "managed cluster"), *((other, "agent pool") for other in others)]:
        if record and record.operation:
            started = datetime.datetime.fromtimestamp(record.operation.started, datetime.UTC)
            name = naming.last_part(record.id)
            raise refused("operation-in-progress", kind=record.operation.kind, what=what, name=name, started=started)


def _refuse(cloud: Cloud, request: Request) -> None:
    throttling.take(cloud, request.id)
    require_group(cloud, request)
    cluster = cluster_of(cloud, request.id)
    if cluster is None:
        group, name = request.path["resourceGroupName"], request.path["resourceName"]
        raise not_found("Microsoft.ContainerService/managedClusters", name, group)
    refuse_conflict(cluster, request.current)
    region = str(cluster.outputs["location"])
    before = request.current.outputs if request.current else None
    pool = _render(cloud, request)
    pool_rules.require_pool(cloud, pool, cluster.outputs, before=before)
    pool_reserved.require_free(cloud, pool)
    network_rules.require_pool_network(cloud, pool, cluster.outputs)
    pool_capacity.require_reservation(cloud, pool, cluster.outputs)
    placed = (
        bool(request.current.details.get("fabric")) if request.current else pool_machines.shares_fabric(cloud, pool)
    )
    pool_capacity.require_placement(cloud, pool, cloud.size(str(pool["vmSize"])), placed=placed)
    growth = int(pool["count"]) - int((before or {}).get("count", 0))
    if request.current and pool_defaults.system_of(pool) != pool_defaults.system_of(request.current.outputs):
        growth += pool_upgrade.surge_of(pool, int(pool["count"]))
    pool_capacity.require_quota(cloud, [(pool, growth)], region)
    if request.current:
        pool_upgrade.require_known(pool, request.current, named=request.inputs.get("nodeImageVersion"))
    if before and before["mode"] == "System" and pool["mode"] != "System":
        _require_other_system_pool(cloud, cluster, request.id)


def _require_other_system_pool(cloud: Cloud, cluster: Record, pool_id: str) -> None:
    others = [
        pool
        for pool in cloud.store.all(pool_defaults.TYPE, under=cluster.id)
        if pool.id.casefold() != pool_id.casefold()
    ]
    if not any(pool.outputs["mode"] == "System" for pool in others):
        raise refused("last-system-pool")


def _refuse_delete(cloud: Cloud, record: Record) -> None:
    cluster = cluster_of(cloud, record.id)
    if cluster:
        refuse_conflict(cluster, record)
        if record.outputs["mode"] == "System":
            _require_other_system_pool(cloud, cluster, record.id)


def _render(cloud: Cloud, request: Request) -> dict[str, Any]:
    cluster = cluster_of(cloud, request.id)
    assert cluster
    shown = base_outputs(AGENT_POOL.path, request, f"{AGENT_POOL.arm_type}", AGENT_POOL.api_version)
    pool_type = request.inputs.get("type", "VirtualMachineScaleSets")
    before = request.current.outputs if request.current else {}
    kept = {key: before[key] for key in pool_defaults.KEPT if key in before}
    pool = pool_defaults.defaults(cloud, {**kept, **shown, "type": pool_type}, cluster.outputs, before)
    return {**pool, "eTag": ""}  # each operation gives another


def _create(cloud: Cloud, record: Record) -> None:
    assert record.operation
    with cloud.clock.changed:
        if "machines" not in record.details:
            record.details.update(pool_machines.details(cloud, record.outputs))
            cloud.store.save()
    size = cloud.size(str(record.outputs["vmSize"]))
    step = "infinibandPool" if isinstance(size, MachineSize) else "pool"
    try:
        pool_capacity.require_capacity(cloud, record)
    except AzureError:
        # Azure finds out when it requests the machines, not when it accepts the pool.
        cloud.clock.pause_until(record.operation.started + cloud.clock.latencies.seconds("poolUpdate"))
        raise
    pool_machines.grow(cloud, record, end=record.operation.started + cloud.clock.latencies.seconds(step))


def _update(cloud: Cloud, record: Record) -> None:
    assert record.operation
    pool_capacity.require_capacity(cloud, record)
    pool_upgrade.converge(cloud, record, end=record.operation.started + cloud.clock.latencies.seconds("poolUpdate"))
    cloud.clock.pause_until(record.operation.started + cloud.clock.latencies.seconds("poolUpdate"))


def _delete(cloud: Cloud, record: Record) -> None:
    assert record.operation
    if cluster_of(cloud, record.id):
        pool_machines.remove(cloud, record, list(record.details.get("machines", [])), drained=False)
    cloud.clock.pause_until(record.operation.started + cloud.clock.latencies.seconds("poolDelete"))


AGENT_POOL: Final = Kind(
    pulumi_type=pool_defaults.TYPE,
    arguments=containerservice.AgentPoolArgs,
    resource=containerservice.AgentPool,
    arm_type="Microsoft.ContainerService/managedClusters/agentPools",
    path=(
        "/subscriptions/{subscriptionId}/resourcegroups/{resourceGroupName}/providers/Microsoft.ContainerService"
        "/managedClusters/{resourceName}/agentPools/{agentPoolName}"
    ),
    naming="copy",
    name_rule=naming.AGENT_POOL,
    force_new=frozenset({"gpuInstanceProfile", "vmSize", "networkProfile.nodePublicIPTags"}),
    location=False,
    refuse_create=_refuse,
    refuse_update=_refuse,
    refuse_delete=_refuse_delete,
    render=_render,
    updating=pool_upgrade.state,
    create=_create,
    update=_update,
    delete=_delete,
)
