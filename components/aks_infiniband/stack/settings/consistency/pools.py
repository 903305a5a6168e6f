"""Pools: names, taints, node counts, one fabric a pool, and which keys mean something for which kind of pool."""

from collections.abc import Iterator
from typing import Final

from aks_infiniband.facts.limits import LARGEST_POOL
from aks_infiniband.stack.settings.reading import Inconsistency, PoolReading, Reading, known

_INFINIBAND_ONLY: Final = ("mode", "nic_driver", "gpu_driver", "ipoib_devices", "nccl_topology")
_SPOT_TAINT: Final = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"
_GROUP = (
    f"must be {LARGEST_POOL} or fewer with InfiniBand: one placement group, and so one fabric, takes no more; "
    "what is beyond that is another pool, on another fabric"
)
_ACROSS: Final = (
    "must be 2 or more, because a pool is validated across its nodes; or set aks-infiniband:validation mode to off"
)


def _some_infiniband(reading: Reading) -> Iterator[Inconsistency]:
    if reading.pools and not any(pool.infiniband for pool in reading.pools):
        yield Inconsistency(("pools",), None, "must hold at least one pool with InfiniBand")


def _unique_names(reading: Reading) -> Iterator[Inconsistency]:
    first: dict[str, int] = {}
    for pool, name in known(reading.pools, lambda pool: pool.given.name):
        if first.setdefault(name, pool.index) != pool.index:
            yield Inconsistency(pool.path("name"), name, f"must be unique: pools[{first[name]}] has it too")


def _system(pool: PoolReading) -> Iterator[Inconsistency]:
    if pool.given.name == "system" and pool.stack.in_azure:
        yield Inconsistency(pool.path("name"), "system", "is the name of the cluster's system pool")


def _taints(pool: PoolReading) -> Iterator[Inconsistency]:
    """Kubernetes takes one taint for each key and effect (core/v1, NodeSpec.taints)."""
    first: dict[tuple[str, str], str] = {}
    for place, taint in enumerate(pool.given.taints):
        key_value, _, effect = taint.rpartition(":")
        identity = (key_value.partition("=")[0], effect)
        if identity in first:
            reason = f"must not have key and effect in common with {first[identity]!r}"
            yield Inconsistency(pool.path("taints", place), taint, reason)
        first.setdefault(identity, taint)


def _reserved_taints(pool: PoolReading) -> Iterator[Inconsistency]:
    """AKS takes none with its own prefix but the one of Spot pools (Azure/karpenter-provider-azure, issue 1830)."""
    if not pool.stack.in_azure:
        return
    for place, taint in enumerate(pool.given.taints):
        if taint.startswith("kubernetes.azure.com/") and taint != _SPOT_TAINT:
            reason = "must not be in kubernetes.azure.com: AKS keeps that prefix for its own taints"
            yield Inconsistency(pool.path("taints", place), taint, reason)


def _bounds(pool: PoolReading) -> Iterator[Inconsistency]:
    bounds = pool.given.autoscale
    if bounds is None:
        return
    if bounds.min_count > bounds.max_count:
        reason = f"must be maxCount, {bounds.max_count}, or less"
        yield Inconsistency(pool.path("autoscale", "minCount"), bounds.min_count, reason)
    elif not bounds.min_count <= pool.given.count <= bounds.max_count:
        reason = f"must be within autoscale's bounds, {bounds.min_count} to {bounds.max_count}"
        yield Inconsistency(pool.path("count"), pool.given.count, reason)


def _validated(pool: PoolReading) -> bool:
    return pool.infiniband and pool.stack.settings.validation.mode != "off"


def _lonely(pool: PoolReading) -> Iterator[Inconsistency]:
    if _validated(pool) and pool.given.count < 2:
        yield Inconsistency(pool.path("count"), pool.given.count, _ACROSS)


def _lonely_at_times(pool: PoolReading) -> Iterator[Inconsistency]:
    bounds = pool.given.autoscale
    if bounds is not None and _validated(pool) and pool.given.count >= 2 and bounds.min_count < 2:
        yield Inconsistency(pool.path("autoscale", "minCount"), bounds.min_count, _ACROSS)


def _one_group(pool: PoolReading) -> Iterator[Inconsistency]:
    if pool.infiniband and pool.given.count > LARGEST_POOL:
        yield Inconsistency(pool.path("count"), pool.given.count, _GROUP)


def _one_group_at_most(pool: PoolReading) -> Iterator[Inconsistency]:
    bounds = pool.given.autoscale
    if bounds is not None and pool.infiniband and bounds.max_count > LARGEST_POOL:
        yield Inconsistency(pool.path("autoscale", "maxCount"), bounds.max_count, _GROUP)


def _zones(pool: PoolReading) -> Iterator[Inconsistency]:
    zones = pool.given.zones
    for place, zone in enumerate(zones):
        if zone in zones[:place]:
            yield Inconsistency(pool.path("zones", place), zone, "must be listed once")
    if pool.infiniband and len(set(zones)) > 1:
        reason = "must be one zone at most with InfiniBand: a fabric does not span zones; give each zone its own pool"
        yield Inconsistency(pool.path("zones"), list(zones), reason)


def _spot(pool: PoolReading) -> Iterator[Inconsistency]:
    if pool.infiniband and pool.given.priority == "Spot":
        yield Inconsistency(
            pool.path("priority"),
            "Spot",
            "must be Regular with InfiniBand: an eviction takes one machine out of a job that spans all of them, "
            "and the job fails; Spot is for pools with infiniband: false",
        )


def _ordinary(pool: PoolReading) -> Iterator[Inconsistency]:
    if not pool.infiniband:
        for key, value in pool.given.given(*_INFINIBAND_ONLY):
            reason = "says nothing for a pool with infiniband: false: leave it out"
            yield Inconsistency(pool.path(key), value, reason)


STACK = (_some_infiniband, _unique_names)
POOL = (
    *(_system, _taints, _reserved_taints, _bounds, _lonely, _lonely_at_times, _one_group, _one_group_at_most),
    *(_zones, _spot, _ordinary),
)
