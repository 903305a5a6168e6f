"""One pool is one fabric: one placement group, in one zone, of machines that stay."""

from collections.abc import Iterator

from aks_infiniband.stack.settings.base import LARGEST_POOL
from aks_infiniband.stack.settings.consistency.seen import Inconsistency, Seen, SeenPool

_GROUP = (
    f"must be {LARGEST_POOL} or fewer with InfiniBand: one placement group, and so one fabric, takes no more; "
    "what is beyond that is another pool, on another fabric"
)


def check(seen: Seen) -> Iterator[Inconsistency]:
    """No InfiniBand pool spans fabrics, or loses a machine while a job runs."""
    for pool in seen.infiniband_pools:
        yield from _one_group(pool)
        yield from _one_zone(pool)
        if pool.given.priority == "Spot":
            yield Inconsistency(
                pool.path("priority"),
                "Spot",
                "must be Regular with InfiniBand: an eviction takes one machine out of a job that spans all of them, "
                "and the job fails; Spot is for pools with infiniband: false",
            )
    for pool in seen.pools:
        zones = pool.given.zones or ()
        for place, zone in enumerate(zones):
            if zone in zones[:place]:
                yield Inconsistency(pool.path("zones", place), zone, "must be listed once")


def _one_group(pool: SeenPool) -> Iterator[Inconsistency]:
    if pool.count is not None and pool.count > LARGEST_POOL:
        yield Inconsistency(pool.path("count"), pool.count, _GROUP)
    bounds = pool.given.autoscale
    if bounds is not None and bounds.max_count is not None and bounds.max_count > LARGEST_POOL:
        yield Inconsistency(pool.path("autoscale", "maxCount"), bounds.max_count, _GROUP)


def _one_zone(pool: SeenPool) -> Iterator[Inconsistency]:
    zones = pool.given.zones or ()
    if len(set(zones)) > 1:
        reason = "must be one zone at most with InfiniBand: a fabric does not span zones; give each zone its own pool"
        yield Inconsistency(pool.path("zones"), list(zones), reason)
