"""Agent pools: machines join the cluster one by one, follow the pool's labels, and are drained before they go."""

from __future__ import annotations

import datetime
import logging
import time
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from aks_infiniband.catalog import MachineSize
from pulumi_azure_native import containerservice

from rehearsal.azure import naming
from rehearsal.azure.errors import AzureError, bad_request, conflict, not_found
from rehearsal.azure.kinds import Kind, Request
from rehearsal.azure.machines import PoolFacts, labels, node, node_name, taints
from rehearsal.azure.models import check_agent_pool
from rehearsal.azure.resources import features, pool_rules
from rehearsal.azure.resources.groups import base_outputs, require_group
from rehearsal.azure.resources.networks import find_subnet
from rehearsal.azure.store import Record

if TYPE_CHECKING:
    from rehearsal.azure.cloud import Cloud

_LOG: Final = logging.getLogger(__name__)

PLACEMENT_FEATURE: Final = "Microsoft.ContainerService/AKSInfinibandSupport"
_MACHINES_NETWORK: Final = "10.224.0.0/16"
"""The subnet AKS makes when it is given none."""


def cluster_of(cloud: Cloud, pool_id: str) -> Record | None:
    """The record of the cluster that a pool's ID names."""
    return cloud.store.get(pool_id[: pool_id.casefold().rfind("/agentpools/")])


def facts(cloud: Cloud, record: Record) -> PoolFacts:
    """What is the same on all machines of a pool."""
    cluster = cluster_of(cloud, record.id)
    size = cloud.subscription.size(str(record.outputs["vmSize"]))
    assert cluster
    assert size
    subnet = find_subnet(cloud, str(record.outputs.get("vnetSubnetID") or ""))
    return PoolFacts(
        pool=record.outputs,
        size_name=str(record.outputs["vmSize"]),
        size=size,
        cluster_id=cluster.id,
        node_group=str(cluster.outputs["nodeResourceGroup"]),
        subscription_id=cluster.id.split("/")[2],
        location=str(cluster.outputs["location"]),
        kubelet_version=cloud.cluster_api.version(),
        fabric=record.details.get("fabric"),
        subnet=subnet[0] if subnet else _MACHINES_NETWORK,
        pod_range=cluster.outputs["networkProfile"].get("podCidr"),
    )


def details(cloud: Cloud, outputs: Mapping[str, Any]) -> dict[str, Any]:
    """What Azure decides when it accepts a pool: above all whether its machines share a fabric, and which."""
    return {
        "fabric": str(uuid.uuid4()) if shares_fabric(cloud, outputs) else None,
        "labels": dict(outputs.get("nodeLabels") or {}),
        "machines": [],
    }


def shares_fabric(cloud: Cloud, outputs: Mapping[str, Any]) -> bool:
    """Whether a new pool's machines come up in one placement group. Azure says nothing when they do not."""
    size = cloud.subscription.size(str(outputs["vmSize"]))
    if not isinstance(size, MachineSize):
        return False
    return (features.state(cloud, PLACEMENT_FEATURE) == "Registered") == size.placement_feature


def grow(cloud: Cloud, record: Record, *, end: float) -> None:
    """Let the machines join that are missing, the last one at a moment (or later, when there are many)."""
    pool = facts(cloud, record)
    machines: list[dict[str, int]] = record.details["machines"]
    for machine in machines:
        cloud.cluster_api.join(node(pool, machine["instance"], machine["address"]))
    missing = int(record.outputs["count"]) - len(machines)
    step, start = cloud.clock.latencies.seconds("nodeJoin"), time.time()
    for left in range(missing - 1, -1, -1):
        cloud.clock.pause_until(max(end, start + missing * step) - left * step)
        with cloud.clock.changed:
            machine = {"instance": _next_instance(record), "address": _next_address(cloud, record)}
            machines.append(machine)
            cloud.store.save()
        cloud.cluster_api.join(node(pool, machine["instance"], machine["address"]))
        total = record.outputs["count"]
        _LOG.info(
            "%s joined, %d of %d of pool %s",
            node_name(pool, machine["instance"]),
            total - left,
            total,
            pool.pool["name"],
        )


def _next_instance(record: Record) -> int:
    """Scale sets never give a number twice."""
    instance = int(record.details.get("nextInstance", 0))
    record.details["nextInstance"] = instance + 1
    return instance


def _next_address(cloud: Cloud, record: Record) -> int:
    cluster = cluster_of(cloud, record.id)
    assert cluster
    pools = cloud.store.all(pool_rules.TYPE, under=cluster.id)
    taken = {machine["address"] for pool in pools for machine in pool.details.get("machines", [])}
    return next(number for number in range(len(taken) + 1) if number not in taken)


def names(cloud: Cloud, record: Record) -> list[str]:
    """The pool's nodes, oldest first."""
    pool = facts(cloud, record)
    return [node_name(pool, machine["instance"]) for machine in record.details["machines"]]


def converge(cloud: Cloud, record: Record, *, end: float) -> None:
    """Make a running pool what its record says: labels, taints, number of machines."""
    pool = facts(cloud, record)
    gone = dict.fromkeys(record.details.get("labels", {}))
    for machine in record.details["machines"]:
        wanted = {**gone, **labels(pool, machine["instance"])}
        cloud.cluster_api.relabel(node_name(pool, machine["instance"]), wanted, taints(record.outputs))
    with cloud.clock.changed:
        record.details["labels"] = dict(record.outputs.get("nodeLabels") or {})
        cloud.store.save()
    surplus = record.details["machines"][int(record.outputs["count"]) :]
    if surplus:
        _remove(cloud, record, surplus)
    grow(cloud, record, end=end)


def _remove(cloud: Cloud, record: Record, machines: list[dict[str, int]]) -> None:
    pool = facts(cloud, record)
    going = [node_name(pool, machine["instance"]) for machine in machines]
    cloud.cluster_api.leave(going, pause=cloud.clock.latencies.seconds("resource"))
    with cloud.clock.changed:
        record.details["machines"] = [machine for machine in record.details["machines"] if machine not in machines]
        cloud.store.save()


def refuse_conflict(cluster: Record, *others: Record | None) -> None:
    """Refuse an operation while another one is in progress on the cluster or the same pool."""
    for record, what in [(cluster, "managed cluster"), *((other, "agent pool") for other in others)]:
        if record and record.operation:
            started = datetime.datetime.fromtimestamp(record.operation.started, datetime.UTC)
            name = naming.last_part(record.id)
            raise conflict(
                "OperationNotAllowed",
                f"Operation is not allowed because there's an in progress {record.operation.kind} {what} "
                "operation on the "
                f"{what} {name} started at {started:%Y-%m-%d %H:%M:%S}. Please wait for it to finish before "
                "starting a new "
                "operation. See https://aka.ms/aks-pending-operation for more details.",
            )


def _refuse(cloud: Cloud, request: Request) -> None:
    require_group(cloud, request)
    cluster = cluster_of(cloud, request.id)
    if cluster is None:
        group, name = request.path["resourceGroupName"], request.path["resourceName"]
        raise not_found("Microsoft.ContainerService/managedClusters", name, group)
    refuse_conflict(cluster, request.current)
    region = str(cluster.outputs["location"])
    before = request.current.outputs if request.current else None
    pool = _render(cloud, request)
    pool_rules.require_pool(cloud, pool, request.name, region, before=before)
    placed = bool(request.current.details.get("fabric")) if request.current else shares_fabric(cloud, pool)
    pool_rules.require_placement(pool, cloud.subscription.size(str(pool["vmSize"])), placed=placed)
    pool_rules.require_quota(cloud, [(pool, int(pool["count"]) - int((before or {}).get("count", 0)))], region)
    if before and before["mode"] == "System" and pool["mode"] != "System":
        _require_other_system_pool(cloud, cluster, request.id)


def _require_other_system_pool(cloud: Cloud, cluster: Record, pool_id: str) -> None:
    others = [
        pool for pool in cloud.store.all(pool_rules.TYPE, under=cluster.id) if pool.id.casefold() != pool_id.casefold()
    ]
    if not any(pool.outputs["mode"] == "System" for pool in others):
        raise bad_request("OperationNotAllowed", "There has to be at least one system agent pool.")


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
    kept = {key: before[key] for key in pool_rules.IMMUTABLE if key in before}
    pool = pool_rules.defaults(cloud, {**kept, **shown, "type": pool_type}, cluster.outputs)
    return {**pool, "eTag": str(uuid.uuid4())}


def _create(cloud: Cloud, record: Record) -> None:
    assert record.operation
    with cloud.clock.changed:
        if "machines" not in record.details:
            record.details.update(details(cloud, record.outputs))
            cloud.store.save()
    size = cloud.subscription.size(str(record.outputs["vmSize"]))
    step = "infinibandPool" if isinstance(size, MachineSize) else "pool"
    try:
        pool_rules.require_capacity(cloud, record)
    except AzureError:
        # Azure finds out when it asks for the machines, not when it accepts the pool.
        cloud.clock.pause_until(record.operation.started + cloud.clock.latencies.seconds("poolUpdate"))
        raise
    grow(cloud, record, end=record.operation.started + cloud.clock.latencies.seconds(step))


def _update(cloud: Cloud, record: Record) -> None:
    assert record.operation
    pool_rules.require_capacity(cloud, record)
    converge(cloud, record, end=record.operation.started + cloud.clock.latencies.seconds("poolUpdate"))
    cloud.clock.pause_until(record.operation.started + cloud.clock.latencies.seconds("poolUpdate"))


def _delete(cloud: Cloud, record: Record) -> None:
    assert record.operation
    if cluster_of(cloud, record.id):
        _remove(cloud, record, list(record.details.get("machines", [])))
    cloud.clock.pause_until(record.operation.started + cloud.clock.latencies.seconds("poolDelete"))


AGENT_POOL: Final = Kind(
    pulumi_type=pool_rules.TYPE,
    arguments=containerservice.AgentPoolArgs,
    resource=containerservice.AgentPool,
    arm_type="Microsoft.ContainerService/managedClusters/agentPools",
    path=(
        "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Microsoft.ContainerService"
        "/managedClusters/{resourceName}/agentPools/{agentPoolName}"
    ),
    naming="copy",
    name_rule=naming.AGENT_POOL,
    force_new=frozenset({"gpuInstanceProfile", "vmSize", "networkProfile.nodePublicIPTags"}),
    location=False,
    check=check_agent_pool,
    refuse_create=_refuse,
    refuse_update=_refuse,
    refuse_delete=_refuse_delete,
    render=_render,
    create=_create,
    update=_update,
    delete=_delete,
)
