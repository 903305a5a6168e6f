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
    """What the stack file says of a cluster that is made, and of its pools."""
    settings, cluster = reading.settings, reading.settings.cluster
    assert cluster is not None
    assert name is not None
    assert settings.location is not None  # the rules have seen to all three
    feature = FeatureRegistrationArgs(
        location=settings.location,
        poll_seconds=settings.readiness.poll_seconds,
        timeout_seconds=settings.readiness.timeout_seconds,
    )
    by_name = {pool.name: pool for pool in pools}
    return AzureClusterArgs(
        cluster=AksClusterArgs(
            location=settings.location,
            kubernetes_version=cluster.kubernetes_version,
            support_plan=cluster.support_plan,
            cluster_name=name,
            resource_group_name=cluster.resource_group or name,
            node_resource_group_name=cluster.node_resource_group,
            identity_id=cluster.identity_id,
            system_pool=plain(SystemPool, cluster.system_pool),
            network=plain(ClusterNetwork, cluster.network),
            api_server=plain(ApiServer, cluster.api_server),
            access=plain(Access, cluster.access),
        ),
        pools=[(by_name.get(pool.name) or _ordinary(pool), _machines(pool)) for pool in reading.pools],
        pool_operations=cluster.pool_operations,
        feature=feature if any(pool.size.placement_feature for pool in pools) else None,
    )


def _ordinary(pool: PoolReading) -> OrdinaryPool:
    given = pool.given
    return OrdinaryPool(
        name=given.name,
        vm_size=given.vm_size,
        node_count=given.count,
        taints=given.taints,
        priority=given.priority,
    )


def _machines(pool: PoolReading) -> Machines:
    given, bounds = pool.given, pool.given.autoscale
    return Machines(
        autoscale=None
        if bounds is None
        else Autoscale(begin=given.count, min_count=bounds.min_count, max_count=bounds.max_count),
        labels=given.labels,
        os_sku=pool.os_sku,
        os_disk_size_gb=given.os_disk_size_gb,
        os_disk_type=given.os_disk_type,
        node_image_snapshot_id=given.node_image_snapshot_id,
        capacity_reservation_group_id=given.capacity_reservation_group_id,
        zones=given.zones,
    )
