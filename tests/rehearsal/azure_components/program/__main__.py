"""A cluster and its pools from the library's Azure components; what the tests change comes from the stack file."""

import json
from functools import partial
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
from aks_infiniband.azure.arguments import Access, ApiServer, Cluster, ClusterNetwork
from aks_infiniband.azure.cluster import AksCluster, AksClusterArgs
from aks_infiniband.azure.feature import (
    FeatureAbsence,
    FeatureAbsenceArgs,
    FeatureRegistration,
    FeatureRegistrationArgs,
)
from aks_infiniband.azure.machines import Autoscale, Machines, OrdinaryPool
from aks_infiniband.azure.node_pool import (
    InfinibandNodePool,
    InfinibandNodePoolArgs,
    OrdinaryNodePool,
    OrdinaryNodePoolArgs,
    make_pools,
)
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool
from aks_infiniband.resources.options import Waits

config = pulumi.Config()


def section(name: str) -> Any:
    """As a stack file has it."""
    return json.loads(config.get(name) or "{}")


def make_pool(name: str, given: dict[str, Any], opts: pulumi.ResourceOptions) -> InfinibandNodePool | OrdinaryNodePool:
    count, bounds = given.pop("count"), given.pop("autoscale", None)
    taints = tuple(given.pop("taints", ()))
    place: dict[str, Any] = {
        "resource_group_name": cluster.resource_group_name,
        "cluster_name": cluster.cluster_name,
        "subnet_id": cluster.subnet_id,
        "kubernetes_version": config.get("kubernetes"),
    }
    autoscale = bounds and Autoscale.model_validate(bounds)
    if "size" in given:
        size, driver = SIZES[given.pop("size")], given.pop("gpu_driver")
        pool = Pool(name=name, node_count=count, taints=taints, size=size, gpu_driver=driver)
        machines = Machines(autoscale=autoscale, **given)
        return InfinibandNodePool(name, args=InfinibandNodePoolArgs(pool=pool, machines=machines, **place), opts=opts)
    ordinary = OrdinaryPool(name=name, count=count, taints=taints, autoscale=autoscale, **given)
    return OrdinaryNodePool(name, args=OrdinaryNodePoolArgs(pool=ordinary, **place), opts=opts)


cluster = AksCluster(
    "rdma",
    args=AksClusterArgs(
        location="southcentralus",
        cluster_name="rdma",
        resource_group_name="rdma",
        settings=Cluster(
            kubernetes_version=config.get("kubernetes") or "1.35",
            support_plan="AKSLongTermSupport" if config.get_bool("longTermSupport") else "KubernetesOfficial",
            network=ClusterNetwork.model_validate(section("network")),
            api_server=ApiServer.model_validate(section("apiServer")),
            access=Access.model_validate(section("access")),
            identity_id=config.get("identityId"),
        ),
    ),
)
gate: list[pulumi.Output[pulumi.Resource]] = []
if config.get_bool("absent"):
    gate.append(FeatureAbsence("rdma", args=FeatureAbsenceArgs()).absent)
if config.get_bool("feature"):
    asked_for = FeatureRegistrationArgs(location="southcentralus", waits=Waits(poll_seconds=1))
    gate.append(FeatureRegistration("rdma", args=asked_for).registered)
makers = {name: partial(make_pool, name, dict(given)) for name, given in section("pools").items()}
pools: dict[str, InfinibandNodePool | OrdinaryNodePool] = make_pools(
    makers,
    operations="serial" if config.get_bool("serial") else "parallel",
    opts=pulumi.ResourceOptions(deleted_with=cluster.managed_cluster, depends_on=gate),
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
