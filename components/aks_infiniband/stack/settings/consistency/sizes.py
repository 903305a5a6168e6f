"""Machine sizes: known ones, with InfiniBand where it is asked for."""

import re
from collections.abc import Iterator

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.stack.settings.consistency.seen import Inconsistency, Seen, SeenPool
from aks_infiniband.stack.settings.mistakes import nearest


def check(seen: Seen) -> Iterator[Inconsistency]:
    """Every pool's size fits what the pool is."""
    for name in seen.settings.sizes or {}:
        if name in SIZES:
            yield Inconsistency(("sizes", name), None, "is in the catalogue already, and cannot be described anew")
    for pool in seen.pools:
        if pool.given.vm_size is None or not pool.sound("infiniband"):
            continue
        reason = _unknown(seen, pool) if pool.infiniband else _unexpected(seen, pool)
        if reason:
            yield Inconsistency(pool.path("vmSize"), pool.given.vm_size, reason)
    system = seen.cluster and seen.cluster.system_pool
    if system and system.vm_size in (seen.settings.sizes or {}):
        reason = "is described with InfiniBand: give it a pool of its own under aks-infiniband:pools"
        yield Inconsistency(("cluster", "systemPool", "vmSize"), system.vm_size, reason)
    yield from _feature(seen)


def _unknown(seen: Seen, pool: SeenPool) -> str | None:
    name = pool.given.vm_size
    if name in seen.sizes or name in (seen.settings.sizes or {}):
        return None
    close = nearest(name, list(seen.sizes))
    near = f"; nearest known size: {close}" if close else ""
    features = re.fullmatch(r"Standard_[A-Z]+\d+(?:-\d+)?([a-z]*)(_\w+)?", name)
    if features and "r" not in features[1]:
        return (
            f"has no InfiniBand (a size that has it carries an r, for RDMA, behind its number){near}; "
            "or set infiniband: false for a pool of ordinary machines"
        )
    return (
        f"must be a known InfiniBand size{near}; or describe it under aks-infiniband:sizes; "
        f"known: {', '.join(seen.sizes)}"
    )


def _unexpected(seen: Seen, pool: SeenPool) -> str | None:
    if pool.given.vm_size not in seen.sizes:
        return None
    return "has InfiniBand, and the pool has infiniband: false: leave that out, or choose a size without InfiniBand"


def _feature(seen: Seen) -> Iterator[Inconsistency]:
    """AKSInfinibandSupport is registered for a whole subscription, or not."""
    if not seen.in_azure:
        return
    gated = {True: "must be registered", False: "must not be registered"}
    first: SeenPool | None = None
    for pool in seen.infiniband_pools:
        if pool.size is None:
            continue
        if first is None or first.size is None:
            first = pool
        elif first.size.placement_feature is not pool.size.placement_feature:
            yield Inconsistency(
                pool.path("vmSize"),
                pool.given.vm_size,
                f"cannot stand beside pool {first.name} ({first.given.vm_size}): for the one the subscription's "
                f"feature AKSInfinibandSupport {gated[pool.size.placement_feature]}, for the other it "
                f"{gated[first.size.placement_feature]}; give one of them a stack in another subscription",
            )
