"""Rules for the distance between a pool's version of Kubernetes and its cluster's."""

from collections.abc import Iterator
from typing import Final

from aks_infiniband.facts.kubernetes import MOST_BEHIND, minor_of, parts_of
from aks_infiniband.stack.settings.mistakes import Mistake, wrong
from aks_infiniband.stack.settings.reading import PoolReading


def _beside_the_cluster(pool: PoolReading) -> Iterator[Mistake]:
    version = pool.given.kubernetes_version
    if version is None or not pool.stack.in_azure:
        return
    above = pool.stack.cluster.kubernetes_version
    behind = minor_of(above)[1] - minor_of(version)[1]
    shared = min(len(parts_of(version)), len(parts_of(above)))
    if parts_of(version)[:shared] > parts_of(above)[:shared]:
        reason = f"must be {above}, that of cluster.kubernetesVersion, or older: AKS upgrades the control plane first"
        yield wrong(pool.path("kubernetesVersion"), version, reason)
    elif behind > MOST_BEHIND:
        reason = f"is {behind} minor versions behind cluster.kubernetesVersion {above}; AKS takes {MOST_BEHIND} at most"
        yield wrong(pool.path("kubernetesVersion"), version, reason)


STACK: Final = ()
POOL: Final = (_beside_the_cluster,)
