"""Versions of Kubernetes that AKS still makes clusters of."""

from collections.abc import Iterator
from datetime import UTC, date, datetime

from aks_infiniband.facts.kubernetes import RELEASES, supported
from aks_infiniband.stack.settings.reading import Inconsistency, Reading


def today() -> date:
    """In UTC, as Azure counts."""
    return datetime.now(UTC).date()


def _supported(reading: Reading) -> Iterator[Inconsistency]:
    """Of a cluster that is made: its version's support has not ended."""
    version, cluster, now = reading.kubernetes, reading.settings.cluster, today()
    if version not in RELEASES or cluster is None:
        return
    release = RELEASES[version]
    if now <= release.last_day(cluster.support_plan):
        return
    offered = ", ".join(supported(now, cluster.support_plan))
    reason = f"must be one of {offered}: AKS supports this one until {release.last_day(cluster.support_plan)} only"
    if now <= release.long_term_end:
        reason += f", or until {release.long_term_end} with supportPlan AKSLongTermSupport"
    yield Inconsistency(("cluster", "kubernetesVersion"), cluster.kubernetes_version, reason)


STACK = (_supported,)
POOL = ()
