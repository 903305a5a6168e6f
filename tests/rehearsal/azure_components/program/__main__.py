"""A cluster and its pools from the library's Azure components; what the tests change comes from the stack file."""

import json
from functools import partial
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
from aks_infiniband.azure.cluster import AksCluster, AksClusterArgs
from aks_infiniband.azure.feature import FeatureAbsence, FeatureAbsenceArgs
from aks_infiniband.azure.node_pool import InfinibandNodePool, InfinibandNodePoolArgs
from aks_infiniband.azure.ordinary_pool import OrdinaryNodePool, OrdinaryNodePoolArgs
from aks_infiniband.azure.pool_operations import make_pools
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.stack.settings import AccessSettings, ApiServerSettings, NetworkSettings
from aks_infiniband.stack.settings.pools import AutoscaleSettings

config = pulumi.Config()


def section(name: str) -> Any:
    return json.loads(config.get(name) or "{}")


def make_pool(name: str, given: dict[str, Any], opts: pulumi.ResourceOptions) -> InfinibandNodePool | OrdinaryNodePool:
    bounds = given.pop("autoscale", None)
    common: dict[str, Any] = {
        "pool_name": name,
        "resource_group_name": cluster.resource_group_name,
        "cluster_name": cluster.cluster_name,
        "subnet_id": cluster.subnet_id,
        "autoscale": bounds and AutoscaleSettings.model_validate(bounds),
    }
    if "size" in given:
        size = SIZES[given.pop("size")]
        return InfinibandNodePool(name, args=InfinibandNodePoolArgs(size=size, **common, **given), opts=opts)
    return OrdinaryNodePool(name, args=OrdinaryNodePoolArgs(**common, **given), opts=opts)


cluster = AksCluster(
    "rdma",
    args=AksClusterArgs(
        location="southcentralus",
        kubernetes_version="1.35",
        cluster_name="rdma",
        resource_group_name="rdma",
        network=NetworkSettings.model_validate(section("network")),
        api_server=ApiServerSettings.model_validate(section("apiServer")),
        access=AccessSettings.model_validate(section("access")),
        identity_id=config.get("identityId"),
    ),
)
absent = [FeatureAbsence("rdma", args=FeatureAbsenceArgs()).absent] if config.get_bool("absent") else []
makers = {name: partial(make_pool, name, dict(given)) for name, given in section("pools").items()}
pools: dict[str, InfinibandNodePool | OrdinaryNodePool] = make_pools(
    makers,
    operations="serial" if config.get_bool("serial") else "parallel",
    opts=pulumi.ResourceOptions(deleted_with=cluster.managed_cluster, depends_on=absent),
)
if config.get_bool("namespace"):
    provider = kubernetes.Provider("rdma", kubeconfig=cluster.kubeconfig, cluster_identifier=cluster.cluster_id)
    kubernetes.core.v1.Namespace(
        "mine",
        metadata=kubernetes.meta.v1.ObjectMetaArgs(name="mine"),
        opts=pulumi.ResourceOptions(provider=provider, deleted_with=cluster.managed_cluster),
    )
pulumi.export("kubeconfig", cluster.kubeconfig)
ready: list[pulumi.Output[Any]] = [pool.ready.apply(lambda _: True) for pool in pools.values()]
pulumi.export("ready", pulumi.Output.all(*ready))
