"""Rules for the labels and taints that schedulers use."""

from collections.abc import Iterator

from aks_infiniband.stack.settings.mistakes import Mistake, wrong
from aks_infiniband.stack.settings.reading import PoolReading, Reading, known
from aks_infiniband.workload.scheduling import MOST_OF_A_FLAVOR, unfit


def _levels(reading: Reading) -> Iterator[Mistake]:
    """Levels that say something in every pool."""
    topology = reading.settings.scheduler_topology
    if topology is None:
        return
    selectors = known(reading.infiniband_pools, lambda pool: pool.facts.node_selector)
    of_pools = {label: value for _, selector in selectors for label, value in selector.items()}
    for place, level in enumerate(topology.levels):
        reason = unfit(level, topology.levels, topology.scheduler, of_pools)
        if reason:
            yield wrong(("schedulerTopology", "levels", place), level, reason)


def _flavor(pool: PoolReading) -> Iterator[Mistake]:
    """A ResourceFlavor takes few labels and taints."""
    topology = pool.stack.settings.scheduler_topology
    if topology is None or not pool.infiniband or topology.scheduler != "kueue":
        return
    reason = f"must be {MOST_OF_A_FLAVOR} at most, as many as Kueue's ResourceFlavor takes"
    if len(pool.given.taints) > MOST_OF_A_FLAVOR:
        yield wrong(pool.path("taints"), list(pool.given.taints), reason)
    if len(pool.node_selector) > MOST_OF_A_FLAVOR:
        yield wrong(pool.path("nodeSelector"), dict(pool.node_selector), reason)


STACK = (_levels,)
POOL = (_flavor,)
