"""The Azure half of a stack: from settings to the arguments of an AzureCluster."""

from collections.abc import Sequence

from aks_infiniband.azure.arguments import Autoscale, Machines, OrdinaryPool
from aks_infiniband.azure.feature import FeatureRegistrationArgs
from aks_infiniband.facts.pool import Pool
from aks_infiniband.stack.azure_cluster import AzureClusterArgs
from aks_infiniband.stack.settings.reading import PoolReading, Reading


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
        pools=[(infiniband.get(pool.name) or _ordinary(pool), _machines(pool)) for pool in reading.pools],
        feature=feature if any(pool.size.placement_feature for pool in pools) else None,
        alerts_in=settings.observability.workspace_id if settings.observability else None,
    )


def _ordinary(pool: PoolReading) -> OrdinaryPool:
    given = pool.given
    return OrdinaryPool(
        name=pool.name,
        vm_size=given.vm_size,
        node_count=pool.node_count,
        taints=given.taints,
        priority=given.priority,
    )


def _machines(pool: PoolReading) -> Machines:
    given, autoscale = pool.given, None
    if (bounds := given.autoscale) is not None:
        autoscale = Autoscale(begin=given.count, min_count=bounds.min_count, max_count=bounds.max_count)
    return Machines(
        autoscale=autoscale,
        labels=given.labels,
        kubernetes_version=given.kubernetes_version,
        max_pods=given.max_pods,
        os_sku=pool.os_sku,
        os_disk_size_gb=given.os_disk_size_gb,
        os_disk_type=given.os_disk_type,
        node_image_snapshot_id=given.node_image_snapshot_id,
        capacity_reservation_group_id=given.capacity_reservation_group_id,
        zones=given.zones,
    )
