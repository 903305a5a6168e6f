"""The Azure half of the composition: the AKS cluster, the feature that its pools need, and the pools."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_azure_native import alertsmanagement

from aks_infiniband import diagnosis
from aks_infiniband.azure.cluster import AksCluster, AksClusterArgs
from aks_infiniband.azure.feature import (
    FeatureAbsence,
    FeatureAbsenceArgs,
    FeatureRegistration,
    FeatureRegistrationArgs,
)
from aks_infiniband.azure.machines import OrdinaryPool
from aks_infiniband.azure.node_pool import (
    InfinibandNodePool,
    InfinibandNodePoolArgs,
    OrdinaryNodePool,
    OrdinaryNodePoolArgs,
    make_pools,
)
from aks_infiniband.facts.pool import Pool
from aks_infiniband.observability.documents import azure_rule_groups
from aks_infiniband.resources.options import child_options
from aks_infiniband.stack.settings.cluster import ClusterSettings

_MakePool = Callable[[pulumi.ResourceOptions], InfinibandNodePool | OrdinaryNodePool]


@dataclass(frozen=True, kw_only=True)
class AzureClusterArgs:
    """The arguments of an AzureCluster."""

    location: str
    """Azure region."""
    name: str
    """The cluster's, in Azure."""
    settings: ClusterSettings
    """The cluster itself."""
    pools: Sequence[tuple[Pool | OrdinaryPool, OrdinaryPool]]
    """The cluster's pools: with InfiniBand the facts of the pool, and then any pool as it is requested from Azure.
    Either all of their sizes need the InfiniBand feature, or none may have it.
    """
    feature: FeatureRegistrationArgs | None
    """The registration of the InfiniBand feature; None if the sizes must not have it."""
    alerts_in: str | None = None
    """The Azure Monitor workspace in which alerts for the cluster are made, by its resource ID; None: nowhere."""

    @property
    def cluster(self) -> AksClusterArgs:
        """Arguments of an AksCluster. The resource group has the cluster's name unless the settings give another."""
        return AksClusterArgs(
            location=self.location,
            cluster_name=self.name,
            resource_group_name=self.settings.resource_group or self.name,
            settings=self.settings,
        )


class AzureCluster(pulumi.ComponentResource):
    """An AKS cluster and its pools, made side by side, each InfiniBand pool on one fabric."""

    cluster: AksCluster
    pools_ready: Mapping[str, pulumi.Output[pulumi.Resource]]
    """By pool, for depends_on of what needs its machines."""

    def __init__(self, name: str, *, args: AzureClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:AzureCluster", name, None, opts)
        self._opts = child_options(self, opts)
        gate = self._feature(name, args.feature)  # requested first: it may take longer than the cluster
        settings = args.settings
        self.cluster = AksCluster(name, args=args.cluster, opts=self._opts)
        place = {
            "resource_group_name": self.cluster.resource_group_name,
            "cluster_name": self.cluster.cluster_name,
            "subnet_id": self.cluster.subnet_id,
            "pod_subnet_id": self.cluster.pod_subnet_id,
            "kubernetes_version": settings.kubernetes_version,
            "tags": settings.tags,
        }
        pools = make_pools(
            {
                pool.name: _maker(f"{name}-{pool.name}", pool, asked, place, gate, settings.placement_group_limit)
                for pool, asked in args.pools
            },
            operations=settings.pool_operations,
            opts=child_options(self, opts, deleted_with=self.cluster.managed_cluster),
        )
        self.pools_ready = {pool: resource.ready for pool, resource in pools.items()}
        if args.alerts_in is not None:
            self._alerts(name, args, opts)
        self.register_outputs({"clusterName": self.cluster.cluster_name, "kubeconfig": self.cluster.kubeconfig})

    def _feature(self, name: str, args: FeatureRegistrationArgs | None) -> pulumi.Output[pulumi.Resource]:
        """The feature, for which InfiniBand pools wait: without it their machines would sit on different fabrics."""
        if args is not None:
            return FeatureRegistration(name, args=args, opts=self._opts).registered
        return FeatureAbsence(name, args=FeatureAbsenceArgs(), opts=self._opts).absent

    def _alerts(self, name: str, args: AzureClusterArgs, opts: pulumi.ResourceOptions | None) -> None:
        """The scopes include the cluster, so that no other cluster's metrics raise an alert
        (MicrosoftDocs/azure-monitor-docs 12b4ca1, prometheus-rule-groups.md of 2024-11-09).
        """
        for group, rules in azure_rule_groups().items():
            alertsmanagement.PrometheusRuleGroup(
                f"{name}-{group}",
                rule_group_name=f"{group}-{args.name}",
                resource_group_name=self.cluster.resource_group_name,
                location=args.location,
                scopes=[args.alerts_in, self.cluster.cluster_id],
                tags=dict(args.settings.tags) or None,
                rules=rules,
                opts=child_options(self, opts, hooks=diagnosis.azure_operation()),
            )


def _maker(
    name: str,
    pool: Pool | OrdinaryPool,
    asked: OrdinaryPool,
    common: Mapping[str, Any],
    gate: pulumi.Input[pulumi.Resource],
    limit: int,
) -> _MakePool:
    if isinstance(pool, OrdinaryPool):
        ordinary = OrdinaryNodePoolArgs(pool=pool, **common)
        return lambda opts: OrdinaryNodePool(name, args=ordinary, opts=opts)
    args = InfinibandNodePoolArgs(pool=pool, machines=asked, begin=asked.count, placement_group_limit=limit, **common)
    gated = pulumi.ResourceOptions(depends_on=[gate])
    return lambda opts: InfinibandNodePool(name, args=args, opts=pulumi.ResourceOptions.merge(opts, gated))
