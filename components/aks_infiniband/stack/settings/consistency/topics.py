"""Every check of what a value may be only in view of others."""

from collections.abc import Iterator

from aks_infiniband.stack.settings.consistency import (
    access,
    drivers,
    existing,
    images,
    ipoib,
    kubernetes,
    networks,
    placement,
    pools,
    sizes,
    waits,
)
from aks_infiniband.stack.settings.consistency.seen import Inconsistency, Seen

_TOPICS = (existing, kubernetes, access, networks, sizes, pools, placement, drivers, images, ipoib, waits)


def check(seen: Seen) -> Iterator[Inconsistency]:
    """Every inconsistency of a stack file."""
    for topic in _TOPICS:
        yield from topic.check(seen)
