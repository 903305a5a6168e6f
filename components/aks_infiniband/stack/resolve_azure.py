"""The Azure half of a stack: from settings to the arguments of an AzureCluster."""

from collections.abc import Sequence

from aks_infiniband.azure.arguments import (
    Access,
    ApiServer,
    Autoscale,
    ClusterNetwork,
    Machines,
    OrdinaryPool,
    SystemPool,
)
from aks_infiniband.azure.cluster import AksClusterArgs
from aks_infiniband.azure.feature import FeatureRegistrationArgs
from aks_infiniband.facts.pool import Pool
from aks_infiniband.stack.azure_cluster import AzureClusterArgs
from aks_infiniband.stack.settings.base import plain
from aks_infiniband.stack.settings.reading import PoolReading, Reading


def azure_cluster_args(reading: Reading, pools: Sequence[Pool], name: str | None) -> AzureClusterArgs:
    """The arguments of a cluster that is made and of its pools, from the stack file."""
    settings, cluster = reading.settings, reading.cluster
    assert name is not None
    assert settings.location is not None  # the rules have seen to both
    feature = plain(FeatureRegistrationArgs, settings.readiness, location=settings.location, tags=cluster.tags)
    infiniband = {pool.name: pool for pool in pools}
    return AzureClusterArgs(
        cluster=plain(
            AksClusterArgs,
            cluster,
            location=settings.location,
            cluster_name=name,
            resource_group_name=cluster.resource_group or name,
            node_resource_group_name=cluster.node_resource_group,
            system_pool=plain(SystemPool, cluster.system_pool),
            network=plain(ClusterNetwork, cluster.network),
            api_server=plain(ApiServer, cluster.api_server),
            access=plain(Access, cluster.access),
        ),
        pools=[
            (infiniband.get(pool.name) or plain(OrdinaryPool, pool, pool.given), _machines(pool))
            for pool in reading.pools
        ],
        pool_operations=cluster.pool_operations,
        feature=feature if any(pool.size.placement_feature for pool in pools) else None,
        placement_group_limit=cluster.placement_group_limit,
        alerts_in=settings.observability.workspace_id if settings.observability else None,
    )


def _machines(pool: PoolReading) -> Machines:
    bounds = pool.given.autoscale
    autoscale = None if bounds is None else plain(Autoscale, bounds, begin=pool.given.count)
    return plain(Machines, pool, pool.given, autoscale=autoscale)
