"""Pools: names, taints, node counts, one fabric a pool, and which keys mean something for which kind of pool."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Final

from aks_infiniband.azure import fabric
from aks_infiniband.facts.catalog.machine import GPU_OPERATOR_OFF, keeps_gpu_operator_off
from aks_infiniband.facts.pool import MOST_NODES_OF_ALL, repeated, too_many
from aks_infiniband.stack.settings.mistakes import Mistake, wrong
from aks_infiniband.stack.settings.pools import IN_AZURE_ONLY, INFINIBAND_ONLY
from aks_infiniband.stack.settings.reading import PoolReading, Reading, known, listed_once
from aks_infiniband.terminal import page

_SPOT_TAINT: Final = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"
_ACROSS: Final = (
    "must be 2 or more, because a pool is validated across its nodes; or set aks-infiniband:validation mode to off"
)


def _some_infiniband(reading: Reading) -> Iterator[Mistake]:
    if reading.pools and not any(pool.infiniband for pool in reading.pools):
        yield wrong(("pools",), None, "must hold at least one pool with InfiniBand")


def _most(reading: Reading) -> Iterator[Mistake]:
    """The most pools of a cluster; the system pool is one of its pools."""
    own = known([reading], lambda reading: reading.cluster.system_pool.count if reading.in_azure else 0)
    if reason := too_many(len(reading.pools), beside_the_systems=reading.in_azure):
        yield wrong(("pools",), None, reason)
    nodes = sum(count for _, count in own) + sum(most for _, most in known(reading.pools, lambda pool: pool.most_nodes))
    if nodes > MOST_NODES_OF_ALL:
        reason = f"come to {nodes} nodes with the system pool's, and a cluster takes {MOST_NODES_OF_ALL}"
        yield wrong(("pools",), None, reason)


def _unique_names(reading: Reading) -> Iterator[Mistake]:
    pools, names = list(reading.pools), [pool.given.name for pool in reading.pools]
    for index, before in repeated(names).items():
        yield wrong(pools[index].path("name"), names[index], f"must be unique: pools[{before}] has it too")


def _system(pool: PoolReading) -> Iterator[Mistake]:
    if pool.given.name == "system" and pool.stack.in_azure:
        yield wrong(pool.path("name"), "system", "is the name of the cluster's system pool")


def _taints(pool: PoolReading) -> Iterator[Mistake]:
    """Kubernetes takes one taint for each key and effect (core/v1, NodeSpec.taints)."""
    first: dict[tuple[str, str], str] = {}
    for place, taint in enumerate(pool.given.taints):
        key_value, _, effect = taint.rpartition(":")
        identity = (key_value.partition("=")[0], effect)
        if identity in first:
            reason = f"must not have key and effect in common with {first[identity]!r}"
            yield wrong(pool.path("taints", place), taint, reason)
        first.setdefault(identity, taint)


def _reserved_taints(pool: PoolReading) -> Iterator[Mistake]:
    """AKS takes none with its own prefix but the one of Spot pools (Azure/karpenter-provider-azure, issue 1830)."""
    if not pool.stack.in_azure:
        return
    for place, taint in enumerate(pool.given.taints):
        if taint.startswith("kubernetes.azure.com/") and taint != _SPOT_TAINT:
            reason = "must not be in kubernetes.azure.com: AKS keeps that prefix for its own taints"
            yield wrong(pool.path("taints", place), taint, reason)


def _bounds(pool: PoolReading) -> Iterator[Mistake]:
    bounds = pool.given.autoscale
    if bounds is None:
        return
    if bounds.min_count > bounds.max_count:
        reason = f"must be maxCount, {bounds.max_count}, or less"
        yield wrong(pool.path("autoscale", "minCount"), bounds.min_count, reason)
    elif not bounds.min_count <= pool.given.count <= bounds.max_count:
        reason = f"must be within autoscale's bounds, {bounds.min_count} to {bounds.max_count}"
        yield wrong(pool.path("count"), pool.given.count, reason)


def _validated(pool: PoolReading) -> bool:
    return pool.infiniband and pool.stack.settings.validation.mode != "off"


def _lonely(pool: PoolReading) -> Iterator[Mistake]:
    if _validated(pool) and pool.given.count < 2:
        yield wrong(pool.path("count"), pool.given.count, _ACROSS)


def _lonely_at_times(pool: PoolReading) -> Iterator[Mistake]:
    bounds = pool.given.autoscale
    if bounds is not None and _validated(pool) and pool.given.count >= 2 and bounds.min_count < 2:
        yield wrong(pool.path("autoscale", "minCount"), bounds.min_count, _ACROSS)


def _one_group(pool: PoolReading) -> Iterator[Mistake]:
    reason = fabric.nodes(pool.given.count, pool.placement_group_limit) if pool.infiniband else None
    if reason:
        yield wrong(pool.path("count"), pool.given.count, reason)


def _one_group_at_most(pool: PoolReading) -> Iterator[Mistake]:
    bounds = pool.given.autoscale if pool.infiniband else None
    if bounds is not None and (reason := fabric.nodes(bounds.max_count, pool.placement_group_limit)):
        yield wrong(pool.path("autoscale", "maxCount"), bounds.max_count, reason)


def _unreserved(pool: PoolReading) -> Iterator[Mistake]:
    group = pool.given.capacity_reservation_group_id
    if reason := fabric.reservation(group, pool.given.vm_size, infiniband=pool.infiniband):
        yield wrong(pool.path("capacityReservationGroupId"), group, reason)


def _zones(pool: PoolReading) -> Iterator[Mistake]:
    zones = pool.given.zones
    yield from listed_once(pool.path("zones"), zones)
    if pool.infiniband and (reason := fabric.zones(zones)):
        yield wrong(pool.path("zones"), list(zones), reason)


def _spot(pool: PoolReading) -> Iterator[Mistake]:
    if pool.infiniband and pool.given.priority == "Spot":
        reason = (
            "must be Regular with InfiniBand: an eviction takes one machine out of a job that spans all of them, "
            "and the job fails; Spot is for pools with infiniband: false"
        )
        yield wrong(pool.path("priority"), "Spot", reason)


def _ordinary(pool: PoolReading) -> Iterator[Mistake]:
    if not pool.infiniband:
        for key, value in pool.given.given(*INFINIBAND_ONLY):
            reason = "says nothing for a pool with infiniband: false: leave it out"
            yield wrong(pool.path(key), value, reason)


def _node_selector(pool: PoolReading) -> Iterator[Mistake]:
    selector, path = pool.node_selector, pool.path("nodeSelector")
    if pool.stack.in_existing and not selector and not pool.adopted:
        reason = (
            "is missing; in an existing cluster it must give the labels that the pool's nodes, and no others, carry"
        )
        yield wrong(path, None, reason)
    if pool.adopted and selector:
        reason = "is for pools that others keep; existingCluster.aks.nodePools names this one: leave it out"
        yield wrong(path, selector, reason)
    if pool.stack.in_azure and pool.stack.settings.cluster is not None and selector:
        reason = "is for pools of an existing cluster; the agent pool identifies the nodes of this one: leave it out"
        yield wrong(path, selector, reason)


def _listed(pool: PoolReading) -> Iterator[Mistake]:
    if pool.stack.in_existing and not pool.infiniband and not pool.adopted:
        reason = "must be true in an existing cluster: its pools without InfiniBand are not listed"
        yield wrong(pool.path("infiniband"), False, reason)


def _azure_only(pool: PoolReading) -> Iterator[Mistake]:
    if pool.stack.in_existing and not pool.adopted:
        for key, value in pool.given.given(*IN_AZURE_ONLY):
            reason = (
                "is for pools that are made in Azure, and this one is in an existing cluster: leave it out, or take "
                f"the pool over ({page('existing-cluster')})"
            )
            yield wrong(pool.path(key), value, reason)


def _kept_off(pool: PoolReading) -> Iterator[Mistake]:
    """Nodes that others label, and that the GPU Operator of another pool would treat as its own."""
    if not pool.stack.in_existing or not pool.infiniband or pool.adopted:
        return
    if pool.node_selector.get(GPU_OPERATOR_OFF) == "false":
        return
    facts = pool.facts
    owners = {owner for _, owner in known(pool.stack.pools, lambda other: other.facts.gpu_driver)}
    if owners & {"operator", "aks"} and keeps_gpu_operator_off(facts.gpu_driver, facts.size, facts.size.name):
        reason = (
            f'must hold {GPU_OPERATOR_OFF}: "false", and the nodes must carry it: the GPU Operator of '
            "the other pools would install its parts on these GPUs too"
        )
        yield wrong(pool.path("nodeSelector"), pool.node_selector, reason)


def _selectors(reading: Reading) -> Iterator[Mistake]:
    selectors = known(reading.pools, lambda pool: pool.known_by) if reading.in_existing else []
    # A pool that was taken over does not have its own selector to change.
    selectors.sort(key=lambda each: each[0].adopted is None)
    for (pool, first), (other, second) in combinations(selectors, 2):
        if first and second and not _apart(first, second):
            reason = (
                f"must not match the nodes of pool {pool.name}, {first}: two pools never share a fabric; give a label "
                "that both have another value"
            )
            yield wrong(other.path("nodeSelector"), second, reason)


def _adopted(reading: Reading) -> Iterator[Mistake]:
    names = [name for _, name in known(reading.pools, lambda pool: pool.given.name)]
    for name in reading.adopted:
        if name not in names:
            path = ("existingCluster", "aks", "nodePools", name)
            yield wrong(path, None, f"is not a pool of aks-infiniband:pools, which are {', '.join(names) or 'none'}")


def _apart(first: Mapping[str, str], second: Mapping[str, str]) -> bool:
    """True if no node can carry both: a label has one value."""
    return any(key in second and second[key] != value for key, value in first.items())


STACK = (_most, _some_infiniband, _unique_names, _selectors, _adopted)
POOL = (
    *(
        _system,
        _taints,
        _reserved_taints,
        _bounds,
        _lonely,
        _lonely_at_times,
        _one_group,
        _one_group_at_most,
        _unreserved,
    ),
    *(_zones, _spot, _ordinary, _listed, _node_selector, _azure_only, _kept_off),
)
