"""The machines of an agent pool: they join one by one, follow the pool's labels, and are drained before they go."""

import logging
import time
import uuid
from collections.abc import Mapping
from typing import Any, Final

from aks_infiniband.facts.catalog.machine import MachineSize

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.machines import PoolFacts, labels, node, node_name
from rehearsal.azure.node_parts import taints
from rehearsal.azure.resources import features, pool_defaults
from rehearsal.azure.resources.networks import find_subnet
from rehearsal.azure.store import Record

_LOG: Final = logging.getLogger(__name__)

PLACEMENT_FEATURE: Final = "Microsoft.ContainerService/AKSInfinibandSupport"
_MACHINES_NETWORK: Final = "10.224.0.0/16"
"""The subnet AKS makes when it is given none."""
_NEW_SYSTEM: Final = ("nodeImageVersion", "currentOrchestratorVersion")
"""Outputs whose change gives every machine of a pool a new system."""


def cluster_of(cloud: Cloud, pool_id: str) -> Record | None:
    """The record of the cluster that a pool's ID names."""
    return cloud.store.get(pool_id[: pool_id.casefold().rfind("/agentpools/")])


def facts(cloud: Cloud, record: Record) -> PoolFacts:
    """What all machines of a pool have in common."""
    cluster = cluster_of(cloud, record.id)
    size = cloud.size(str(record.outputs["vmSize"]))
    assert cluster
    assert size
    subnet = find_subnet(cloud, str(record.outputs.get("vnetSubnetID") or ""))
    overlay = not record.outputs.get("podSubnetID")
    return PoolFacts(
        pool=record.outputs,
        size_name=str(record.outputs["vmSize"]),
        size=size,
        cluster_id=cluster.id,
        node_group=str(cluster.outputs["nodeResourceGroup"]),
        subscription_id=cluster.id.split("/")[2],
        location=str(cluster.outputs["location"]),
        kubelet_version=cloud.cluster_api(cluster.id).version(),
        fabric=record.details.get("fabric"),
        subnet=subnet[0] if subnet else _MACHINES_NETWORK,
        pod_range=cluster.outputs["networkProfile"].get("podCidr") if overlay else None,
    )


def details(cloud: Cloud, outputs: Mapping[str, Any]) -> dict[str, Any]:
    """What Azure decides when it accepts a pool: above all whether its machines share a fabric, and which."""
    return {
        "fabric": str(uuid.uuid4()) if shares_fabric(cloud, outputs) else None,
        "labels": dict(outputs.get("nodeLabels") or {}),
        "system": _system(outputs),
        "machines": [],
    }


def shares_fabric(cloud: Cloud, outputs: Mapping[str, Any]) -> bool:
    """Whether a new pool's machines come up in one placement group. Azure says nothing when they do not.

    The feature makes AKS give a pool a scale set of a single placement group. GB200 and GB300 ask for the opposite (AKS
    InfiniBand guide, Azure/aks-rdma-infiniband: the feature must not be registered for them): a rack's machines come
    from scale sets of their own kind, so with the feature they are placed apart, as silently.
    """
    size = cloud.size(str(outputs["vmSize"]))
    if not isinstance(size, MachineSize):
        return False
    return features.in_effect(cloud, PLACEMENT_FEATURE) == size.placement_feature


def _system(outputs: Mapping[str, Any]) -> list[Any]:
    return [outputs.get(key) for key in _NEW_SYSTEM]


def grow(cloud: Cloud, record: Record, *, end: float) -> None:
    """Let the missing machines join, one after the other; the last joins at `end`, or later when there are many.

    Where Azure is to run out of machines late, the last one does not join.
    """
    pool = facts(cloud, record)
    machines: list[dict[str, int]] = record.details["machines"]
    for machine in machines:
        cloud.cluster_api(record.id).join(node(pool, machine["instance"], machine["address"]))
    runs_out = record.operation is not None and record.operation.fault == "AllocationFailed"
    missing = int(record.outputs["count"]) - len(machines) - runs_out
    step, start = cloud.clock.latencies.seconds("nodeJoin"), time.time()
    for left in range(missing - 1, -1, -1):
        cloud.clock.pause_until(max(end, start + missing * step) - left * step)
        with cloud.clock.changed:
            machine = {"instance": _next_instance(record), "address": _next_address(cloud, record)}
            machines.append(machine)
            cloud.store.save()
        cloud.cluster_api(record.id).join(node(pool, machine["instance"], machine["address"]))
        total, name = record.outputs["count"], pool.pool["name"]
        _LOG.info("%s joined, %d of %d of pool %s", node_name(pool, machine["instance"]), total - left, total, name)


def _next_instance(record: Record) -> int:
    """The number of the next machine: scale sets never give a number twice."""
    instance = int(record.details.get("nextInstance", 0))
    record.details["nextInstance"] = instance + 1
    return instance


def _next_address(cloud: Cloud, record: Record) -> int:
    cluster = cluster_of(cloud, record.id)
    assert cluster
    pools = cloud.store.all(pool_defaults.TYPE, under=cluster.id)
    taken = {machine["address"] for pool in pools for machine in pool.details.get("machines", [])}
    return next(number for number in range(len(taken) + 1) if number not in taken)


def converge(cloud: Cloud, record: Record, *, end: float) -> None:
    """Make a running pool what its record says: labels, taints, system, number of machines."""
    pool = facts(cloud, record)
    gone = dict.fromkeys(record.details.get("labels", {}))
    for machine in record.details["machines"]:
        wanted = {**gone, **labels(pool, machine["instance"])}
        pool_taints = taints(record.outputs.get("nodeTaints") or [])
        cloud.cluster_api(record.id).relabel(node_name(pool, machine["instance"]), wanted, pool_taints)
    with cloud.clock.changed:
        record.details["labels"] = dict(record.outputs.get("nodeLabels") or {})
        cloud.store.save()
    if surplus := record.details["machines"][int(record.outputs["count"]) :]:
        remove(cloud, record, surplus)
    if record.details.get("system") not in (None, _system(record.outputs)):
        _reimage(cloud, record)
    grow(cloud, record, end=end)


def _reimage(cloud: Cloud, record: Record) -> None:
    """Drain the machines one at a time; each comes back under its name with the new system.

    Source: Azure, "Upgrade an AKS cluster": each node is cordoned, drained and reimaged; as many at a time as
    maxUnavailable says, and here that is one.
    """
    pool = facts(cloud, record)
    for machine in record.details["machines"]:
        name = node_name(pool, machine["instance"])
        cloud.cluster_api(record.id).leave([name], pause=cloud.clock.latencies.seconds("resource"))
        cloud.clock.pause(cloud.clock.latencies.seconds("nodeJoin"))
        cloud.cluster_api(record.id).join(node(pool, machine["instance"], machine["address"]))
        _LOG.info("%s has a new system: %s", name, record.outputs["nodeImageVersion"])
    with cloud.clock.changed:
        record.details["system"] = _system(record.outputs)
        cloud.store.save()


def remove(cloud: Cloud, record: Record, machines: list[dict[str, int]]) -> None:
    """Drain machines of a pool and let them go."""
    pool = facts(cloud, record)
    going = [node_name(pool, machine["instance"]) for machine in machines]
    cloud.cluster_api(record.id).leave(going, pause=cloud.clock.latencies.seconds("resource"))
    with cloud.clock.changed:
        record.details["machines"] = [machine for machine in record.details["machines"] if machine not in machines]
        cloud.store.save()
