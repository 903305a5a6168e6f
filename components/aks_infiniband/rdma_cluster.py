"""The composition: from settings to a validated cluster, where nothing waits for what it does not need."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband import metadata, operators, workload
from aks_infiniband._options import child_options
from aks_infiniband.aks import AksCluster, AksClusterArgs
from aks_infiniband.feature_registration import FeatureRegistration, FeatureRegistrationArgs
from aks_infiniband.gpu_operator import GpuOperator
from aks_infiniband.network_operator import NetworkOperator
from aks_infiniband.nic_policy import (
    RDMA_SHARED_RESOURCE,
    NicClusterPolicy,
    NicClusterPolicyArgs,
)
from aks_infiniband.node_pool import InfinibandNodePool, InfinibandNodePoolArgs, node_selector
from aks_infiniband.pool import Pool, toleration
from aks_infiniband.settings import Mistake, PoolSettings, Settings, SettingsError, rules
from aks_infiniband.validation import Validation, ValidationArgs
from aks_infiniband.workload import WorkloadSettings, WorkloadSettingsArgs


@dataclass(frozen=True, kw_only=True)
class RdmaClusterArgs:
    """What an RdmaCluster takes."""

    settings: Settings
    """What the stack file says; `settings.load` checks it."""


class RdmaCluster(pulumi.ComponentResource):
    """An AKS cluster whose pods talk RDMA over InfiniBand, validated."""

    cluster_name: pulumi.Output[str]
    kubeconfig: pulumi.Output[str]
    """YAML, secret."""
    pools: dict[str, dict[str, Any]]
    """By pool: vmSize, nodeCount, rdmaResource, podTemplate and validation."""

    def __init__(self, name: str, *, args: RdmaClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        settings = args.settings
        cluster_name = settings.cluster.name or _default_name()
        pools = [describe_pool(pool) for pool in settings.pools]
        both = operators.configure(settings, pools)
        super().__init__("aks-infiniband:index:RdmaCluster", name, None, opts)

        cluster = AksCluster(name, args=_cluster_args(settings, cluster_name), opts=child_options(self, opts))
        provider = self._kubernetes_provider(name, cluster, opts)
        inside = child_options(self, opts, provider=provider, deleted_with=cluster.managed_cluster)
        node_pools = self._node_pools(name, settings, cluster, opts)
        namespace = self._namespace(name, inside)

        network_operator = NetworkOperator(
            f"{name}-network-operator", args=both.network(cluster.kubeconfig), opts=inside
        )
        policy = NicClusterPolicy(
            f"{name}-nic-cluster-policy",
            args=NicClusterPolicyArgs(
                pools=pools, timeout_seconds=settings.readiness.timeout_seconds, kubeconfig=cluster.kubeconfig
            ),
            opts=_after(inside, network_operator),
        )
        ready: list[pulumi.Resource] = [policy]
        if both.gpu_pools:
            ready.append(GpuOperator(f"{name}-gpu-operator", args=both.gpu(cluster.kubeconfig), opts=inside))
        workload_settings = WorkloadSettings(
            f"{name}-workload", args=WorkloadSettingsArgs(pools=pools), opts=_after(inside, namespace)
        )
        validations = {
            pool.name: Validation(
                f"{name}-{pool.name}",
                args=ValidationArgs(
                    pool=pool,
                    settings=settings.validation,
                    readiness=settings.readiness,
                    kubeconfig=cluster.kubeconfig,
                    revalidate_when={**both.facts(), "machines": _machines(given, settings)},
                ),
                opts=_after(inside, workload_settings, node_pools[pool.name].ready, *ready),
            )
            for pool, given in zip(pools, settings.pools, strict=True)
        }

        self.cluster_name = cluster.cluster_name
        self.kubeconfig = cluster.kubeconfig
        self.pools = {pool.name: _pool_outputs(pool, validations[pool.name]) for pool in pools}
        self.register_outputs({"clusterName": self.cluster_name, "kubeconfig": self.kubeconfig, "pools": self.pools})

    def _kubernetes_provider(
        self, name: str, cluster: AksCluster, opts: pulumi.ResourceOptions | None
    ) -> kubernetes.Provider:
        """It is the cluster that identifies the provider: a changed kubeconfig replaces nothing."""
        return kubernetes.Provider(
            name,
            kubeconfig=cluster.kubeconfig,
            cluster_identifier=cluster.cluster_id,
            enable_server_side_apply=True,
            # A ConfigMap is changed in place: replacing the report's would lose the last accepted report.
            enable_config_map_mutable=True,
            opts=child_options(self, opts, deleted_with=cluster.managed_cluster),
        )

    def _namespace(self, name: str, inside: pulumi.ResourceOptions) -> kubernetes.core.v1.Namespace:
        return kubernetes.core.v1.Namespace(
            f"{name}-workload",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                name=workload.NAMESPACE,
                # The validation's pods add IPC_LOCK, which the level baseline refuses.
                labels={**metadata.labels("aks-infiniband", "workload"), **metadata.PRIVILEGED},
            ),
            opts=inside,
        )

    def _node_pools(
        self, name: str, settings: Settings, cluster: AksCluster, opts: pulumi.ResourceOptions | None
    ) -> Mapping[str, InfinibandNodePool]:
        """Side by side; each after the feature without which its machines would sit on different fabrics."""
        gated = child_options(self, opts, deleted_with=cluster.managed_cluster)
        if any(pool.size.placement_feature for pool in settings.pools):
            feature = FeatureRegistration(
                name,
                args=FeatureRegistrationArgs(location=settings.location, readiness=settings.readiness),
                opts=child_options(self, opts),
            )
            gated = _after(gated, feature.registered)
        return {
            pool.name: InfinibandNodePool(
                f"{name}-{pool.name}", args=_node_pool_args(pool, settings, cluster), opts=gated
            )
            for pool in settings.pools
        }


def describe_pool(pool: PoolSettings) -> Pool:
    """The plain facts of a pool in an AKS cluster, in mode rdma-shared."""
    return Pool(
        name=pool.name,
        size=pool.size,
        node_count=pool.count,
        node_selector=node_selector(pool.name),
        tolerations=tuple(toleration(taint) for taint in pool.taints),
        rdma_resource=RDMA_SHARED_RESOURCE,
        rdma_quantity=1,
    )


def _after(opts: pulumi.ResourceOptions, *others: pulumi.Input[pulumi.Resource]) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=list(others)))


def _cluster_args(settings: Settings, name: str) -> AksClusterArgs:
    given = settings.cluster
    return AksClusterArgs(
        location=settings.location,
        kubernetes_version=given.kubernetes_version,
        cluster_name=name,
        resource_group_name=given.resource_group or name,
        node_resource_group_name=given.node_resource_group,
        system_pool=given.system_pool,
        network=given.network,
    )


def _default_name() -> str:
    name = f"{pulumi.get_project()}-{pulumi.get_stack()}"
    try:
        return rules.resource_name(name)
    except ValueError as error:
        reason = f"is {name!r} where nothing else is given, after project and stack; {error}: give it a name"
        raise SettingsError((Mistake(key="aks-infiniband:cluster.name", reason=reason),)) from error


def _node_pool_args(pool: PoolSettings, settings: Settings, cluster: AksCluster) -> InfinibandNodePoolArgs:
    return InfinibandNodePoolArgs(
        pool_name=pool.name,
        resource_group_name=cluster.resource_group_name,
        cluster_name=cluster.cluster_name,
        size=pool.size,
        count=pool.count,
        subnet_id=cluster.subnet_id,
        labels=pool.labels,
        taints=pool.taints,
        os_disk_size_gb=pool.os_disk_size_gb,
        zones=pool.zones,
        kubernetes_version=settings.cluster.kubernetes_version,
        kubeconfig=cluster.kubeconfig,
    )


def _machines(pool: PoolSettings, settings: Settings) -> dict[str, Any]:
    """What, changed, gives the pool other machines."""
    return {
        "osDiskSizeGb": pool.os_disk_size_gb,
        "zones": list(pool.zones),
        "kubernetesVersion": settings.cluster.kubernetes_version,
    }


def _pool_outputs(pool: Pool, validation: Validation) -> dict[str, Any]:
    return {
        "vmSize": pool.size.name,
        "nodeCount": pool.node_count,
        "rdmaResource": pool.rdma_resource,
        "podTemplate": workload.pod_template_fragment(pool, config_map=workload.config_map_name(pool.name)),
        "validation": validation.report,
    }
