"""The machines of an agent pool: they join one by one, and are drained before they go."""

import logging
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

from aks_infiniband.facts.catalog.machine import MachineSize

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.machines import PoolFacts, node, node_name
from rehearsal.azure.resources import features, pool_defaults
from rehearsal.azure.resources.networks import find_subnet
from rehearsal.azure.store import Record
from rehearsal.azure.subscription_faults import NO_ROOM

_LOG: Final = logging.getLogger(__name__)

PLACEMENT_FEATURE: Final = "Microsoft.ContainerService/AKSInfinibandSupport"
_MACHINES_NETWORK: Final = "10.224.0.0/16"
"""The subnet AKS makes when it is given none."""


def cluster_of(cloud: Cloud, pool_id: str) -> Record | None:
    """The record of the cluster that a pool's ID names."""
    return cloud.store.get(pool_id[: pool_id.casefold().rfind("/agentpools/")])


def facts(cloud: Cloud, record: Record, machine: Mapping[str, Any] | None = None) -> PoolFacts:
    """The common facts of all machines of a pool. machine: with the system that this one has."""
    cluster = cluster_of(cloud, record.id)
    size = cloud.size(str(record.outputs["vmSize"]))
    assert cluster
    assert size
    subnet = find_subnet(cloud, str(record.outputs.get("vnetSubnetID") or ""))
    overlay = not record.outputs.get("podSubnetID")
    image, version = (machine or {}).get("system") or pool_defaults.system_of(record.outputs)
    return PoolFacts(
        pool={**record.outputs, "nodeImageVersion": image, "currentOrchestratorVersion": version},
        size_name=str(record.outputs["vmSize"]),
        size=size,
        cluster_id=cluster.id,
        node_group=str(cluster.outputs["nodeResourceGroup"]),
        subscription_id=cluster.id.split("/")[2],
        location=str(cluster.outputs["location"]),
        kubelet_version=f"v{version}",
        fabric=record.details.get("fabric"),
        subnet=subnet[0] if subnet else _MACHINES_NETWORK,
        pod_range=cluster.outputs["networkProfile"].get("podCidr") if overlay else None,
    )


def document(cloud: Cloud, record: Record, machine: Mapping[str, Any]) -> dict[str, Any]:
    """The Node object of a machine, as Azure remembers the machine."""
    return node(facts(cloud, record, machine), machine["instance"], machine["address"], machine.get("host", 0))


def details(cloud: Cloud, outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Azure's decisions when it accepts a pool, above all whether its machines share a fabric, and which one."""
    return {
        "fabric": str(uuid.uuid4()) if shares_fabric(cloud, outputs) else None,
        "labels": dict(outputs.get("nodeLabels") or {}),
        "machines": [],
    }


def shares_fabric(cloud: Cloud, outputs: Mapping[str, Any]) -> bool:
    """True if a new pool's machines come up in one placement group. Azure says nothing when they do not.

    The feature makes AKS give a pool a scale set of a single placement group. GB200 and GB300 need the opposite (AKS
    InfiniBand guide, Azure/aks-rdma-infiniband: the feature must not be registered for them): a rack's machines come
    from separate scale sets, so with the feature they are placed apart, as silently.
    """
    size = cloud.size(str(outputs["vmSize"]))
    if not isinstance(size, MachineSize):
        return False
    return features.in_effect(cloud, PLACEMENT_FEATURE) == size.placement_feature


def grow(cloud: Cloud, record: Record, *, end: float) -> None:
    """Let the missing machines join, one after the other; the last joins at `end`, or later when there are many.

    If Azure is to run out of machines late, the last one does not join.
    """
    machines: list[dict[str, Any]] = record.details["machines"]
    for machine in machines:
        cloud.cluster_api(record.id).join(document(cloud, record, machine))
    runs_out = record.operation is not None and record.operation.fault in NO_ROOM
    missing = int(record.outputs["count"]) - sum(not machine.get("surge") for machine in machines) - runs_out
    step, start = cloud.clock.latencies.seconds("nodeJoin"), time.time()
    for left in range(missing - 1, -1, -1):
        cloud.clock.pause_until(max(end, start + missing * step) - left * step)
        machine = join(cloud, record)
        pool, total = facts(cloud, record), record.outputs["count"]
        name = node_name(pool, machine["instance"])
        _LOG.info("%s joined, %d of %d of pool %s", name, total - left, total, pool.pool["name"])


def join(cloud: Cloud, record: Record, *, surge: bool = False) -> dict[str, Any]:
    """Let another machine join, with the pool's system. surge: it goes again when an upgrade has ended."""
    with cloud.clock.changed:
        machine: dict[str, Any] = {
            "instance": _next_instance(record),
            "address": _next_address(cloud, record),
            "system": pool_defaults.system_of(record.outputs),
            **({"surge": True} if surge else {}),
        }
        record.details["machines"].append(machine)
        cloud.store.save()
    cloud.cluster_api(record.id).join(document(cloud, record, machine))
    return machine


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


def remove(cloud: Cloud, record: Record, machines: Sequence[Mapping[str, Any]], *, drained: bool = True) -> None:
    """Let machines of a pool go. drained: whether pods are evicted first, as of a pool that shrinks."""
    pool = facts(cloud, record)
    going = [node_name(pool, machine["instance"]) for machine in machines]
    if drained:
        cloud.cluster_api(record.id).leave(going, pause=cloud.clock.latencies.seconds("resource"))
    else:
        cloud.cluster_api(record.id).go(going)
    with cloud.clock.changed:
        record.details["machines"] = [machine for machine in record.details["machines"] if machine not in machines]
        cloud.store.save()
