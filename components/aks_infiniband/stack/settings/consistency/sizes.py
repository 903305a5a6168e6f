"""Machine sizes: known ones, with InfiniBand where it is asked for."""

import re
from collections.abc import Iterator

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.stack.settings.mistakes import nearest
from aks_infiniband.stack.settings.reading import Inconsistency, PoolReading, Reading, known


def _described(reading: Reading) -> Iterator[Inconsistency]:
    for name in reading.settings.sizes:
        if name in SIZES:
            yield Inconsistency(("sizes", name), None, "is in the catalogue already, and cannot be described anew")


def _fits(pool: PoolReading) -> Iterator[Inconsistency]:
    """Every pool's size has InfiniBand where the pool has."""
    reason = _unknown(pool) if pool.infiniband else _unexpected(pool)
    if reason:
        yield Inconsistency(pool.path("vmSize"), pool.given.vm_size, reason)


def _system_pool(reading: Reading) -> Iterator[Inconsistency]:
    cluster = reading.settings.cluster
    if cluster is not None and cluster.system_pool.vm_size in reading.settings.sizes:
        reason = "is described with InfiniBand: give it a pool of its own under aks-infiniband:pools"
        yield Inconsistency(("cluster", "systemPool", "vmSize"), cluster.system_pool.vm_size, reason)


def _unknown(pool: PoolReading) -> str | None:
    name, sizes = pool.given.vm_size, pool.stack.sizes
    if name in sizes or name in pool.stack.settings.sizes:
        return None
    close = nearest(name, list(sizes))
    near = f"; nearest known size: {close}" if close else ""
    features = re.fullmatch(r"Standard_[A-Z]+\d+(?:-\d+)?([a-z]*)(_\w+)?", name)
    if features and "r" not in features[1]:
        return (
            f"has no InfiniBand (a size that has it carries an r, for RDMA, behind its number){near}; "
            "or set infiniband: false for a pool of ordinary machines"
        )
    return (
        f"must be a known InfiniBand size{near}; or describe it under aks-infiniband:sizes; known: {', '.join(sizes)}"
    )


def _unexpected(pool: PoolReading) -> str | None:
    if pool.given.vm_size not in pool.stack.sizes:
        return None
    return "has InfiniBand, and the pool has infiniband: false: leave that out, or choose a size without InfiniBand"


def _feature(reading: Reading) -> Iterator[Inconsistency]:
    """AKSInfinibandSupport is registered for a whole subscription, or not."""
    if not reading.in_azure:
        return
    gated = {True: "must be registered", False: "must not be registered"}
    sizes = known(reading.infiniband_pools, lambda pool: pool.size)
    for pool, size in sizes[1:]:
        other, first = sizes[0]
        if first.placement_feature is not size.placement_feature:
            yield Inconsistency(
                pool.path("vmSize"),
                size.name,
                f"cannot stand beside pool {other.name} ({first.name}): for the one the subscription's "
                f"feature AKSInfinibandSupport {gated[size.placement_feature]}, for the other it "
                f"{gated[first.placement_feature]}; give one of them a stack in another subscription",
            )


STACK = (_described, _system_pool, _feature)
POOL = (_fits,)
