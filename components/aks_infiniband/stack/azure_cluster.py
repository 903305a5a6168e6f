"""The Azure half of the composition: the AKS cluster, the feature that its pools need, and the pools."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

import pulumi

from aks_infiniband.azure.agent_pool import NodePoolArgs
from aks_infiniband.azure.cluster import AksCluster, AksClusterArgs
from aks_infiniband.azure.feature import (
    FeatureAbsence,
    FeatureAbsenceArgs,
    FeatureRegistration,
    FeatureRegistrationArgs,
)
from aks_infiniband.azure.node_pool import InfinibandNodePool, InfinibandNodePoolArgs
from aks_infiniband.azure.ordinary_pool import OrdinaryNodePool, OrdinaryNodePoolArgs
from aks_infiniband.azure.pool_operations import make_pools
from aks_infiniband.resources.options import child_options
from aks_infiniband.stack.settings import ClusterSettings, PoolSettings, Settings

_MakePool = Callable[[pulumi.ResourceOptions], InfinibandNodePool | OrdinaryNodePool]


@dataclass(frozen=True, kw_only=True)
class AzureClusterArgs:
    """What an AzureCluster takes."""

    settings: Settings
    """What the stack file says; its cluster and location are given."""
    cluster_name: str
    """The cluster's name in Azure."""


class AzureCluster(pulumi.ComponentResource):
    """An AKS cluster and its pools, made side by side, each InfiniBand pool on one fabric."""

    cluster: AksCluster
    pools_ready: Mapping[str, pulumi.Output[pulumi.Resource]]
    """By pool, for depends_on of what needs its machines."""

    def __init__(self, name: str, *, args: AzureClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:AzureCluster", name, None, opts)
        settings = args.settings
        assert settings.cluster is not None
        self._opts = child_options(self, opts)
        self.cluster = AksCluster(
            name, args=_cluster_args(settings, settings.cluster, args.cluster_name), opts=self._opts
        )
        gate = self._feature(name, settings)
        makers = {pool.name: self._maker(name, pool, settings, gate) for pool in settings.pools}
        pools = make_pools(
            makers,
            operations=settings.cluster.pool_operations,
            opts=child_options(self, opts, deleted_with=self.cluster.managed_cluster),
        )
        self.pools_ready = {pool: made.ready for pool, made in pools.items()}
        self.register_outputs({"clusterName": self.cluster.cluster_name, "kubeconfig": self.cluster.kubeconfig})

    def _feature(self, name: str, settings: Settings) -> list[pulumi.Input[pulumi.Resource]]:
        """What InfiniBand pools wait for: without the feature their machines would sit on different fabrics.

        A stack has sizes that need the feature or sizes that must not have it; the settings' checks saw to that.
        """
        if any(settings.size(pool).placement_feature for pool in settings.infiniband_pools):
            assert settings.location is not None
            args = FeatureRegistrationArgs(location=settings.location, readiness=settings.readiness)
            return [FeatureRegistration(name, args=args, opts=self._opts).registered]
        return [FeatureAbsence(name, args=FeatureAbsenceArgs(), opts=self._opts).absent]

    def _maker(
        self, name: str, pool: PoolSettings, settings: Settings, gate: list[pulumi.Input[pulumi.Resource]]
    ) -> _MakePool:
        name, common = f"{name}-{pool.name}", self._common(pool, settings)
        shared = {one.name: getattr(common, one.name) for one in fields(common)}
        if not pool.infiniband:
            ordinary = OrdinaryNodePoolArgs(vm_size=pool.vm_size, priority=pool.priority, **shared)
            return lambda opts: OrdinaryNodePool(name, args=ordinary, opts=opts)
        args = InfinibandNodePoolArgs(size=settings.size(pool), gpu_driver=settings.gpu_driver(pool), **shared)
        gated = pulumi.ResourceOptions(depends_on=gate)
        return lambda opts: InfinibandNodePool(name, args=args, opts=pulumi.ResourceOptions.merge(opts, gated))

    def _common(self, pool: PoolSettings, settings: Settings) -> NodePoolArgs:
        """The arguments that pools of both kinds take."""
        assert settings.cluster is not None
        return NodePoolArgs(
            pool_name=pool.name,
            resource_group_name=self.cluster.resource_group_name,
            cluster_name=self.cluster.cluster_name,
            count=pool.count,
            autoscale=pool.autoscale,
            subnet_id=self.cluster.subnet_id,
            pod_subnet_id=self.cluster.pod_subnet_id,
            labels=pool.labels,
            taints=pool.taints,
            os_sku=settings.os_sku(pool),
            os_disk_size_gb=pool.os_disk_size_gb,
            os_disk_type=pool.os_disk_type,
            node_image_snapshot_id=pool.node_image_snapshot_id,
            capacity_reservation_group_id=pool.capacity_reservation_group_id,
            zones=pool.zones,
            kubernetes_version=settings.cluster.kubernetes_version,
        )


def _cluster_args(settings: Settings, given: ClusterSettings, name: str) -> AksClusterArgs:
    assert settings.location is not None
    return AksClusterArgs(
        location=settings.location,
        kubernetes_version=given.kubernetes_version,
        support_plan=given.support_plan,
        cluster_name=name,
        resource_group_name=given.resource_group or name,
        node_resource_group_name=given.node_resource_group,
        identity_id=given.identity_id,
        system_pool=given.system_pool,
        network=given.network,
        api_server=given.api_server,
        access=given.access,
    )
