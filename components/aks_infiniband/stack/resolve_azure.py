"""The Azure half of a stack: from settings to the arguments of an AzureCluster."""

from collections.abc import Sequence

from aks_infiniband.azure.feature import FeatureRegistrationArgs
from aks_infiniband.facts.pool import Pool
from aks_infiniband.stack.azure_cluster import AzureClusterArgs
from aks_infiniband.stack.settings.reading import Reading


def azure_cluster_args(reading: Reading, pools: Sequence[Pool], name: str | None) -> AzureClusterArgs:
    """The arguments of a cluster that is made and of its pools, from the stack file."""
    settings, cluster = reading.settings, reading.cluster
    assert name is not None
    assert settings.location is not None  # the rules have seen to both
    feature = FeatureRegistrationArgs(location=settings.location, waits=settings.readiness, tags=cluster.tags)
    infiniband = {pool.name: pool for pool in pools}
    return AzureClusterArgs(
        location=settings.location,
        name=name,
        settings=cluster,
        pools=[(infiniband.get(pool.name) or pool.given, pool.given) for pool in reading.pools],
        feature=feature if any(pool.size.placement_feature for pool in pools) else None,
        alerts_in=settings.observability.workspace_id if settings.observability else None,
    )
