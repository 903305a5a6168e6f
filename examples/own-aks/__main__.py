"""A platform team's own AKS program, which takes from aks_infiniband what it does not want to write itself.

Network, cluster and Kubernetes provider are the team's own (cluster.py). The pool of InfiniBand machines, NVIDIA's
operator with its policy, IP over InfiniBand and the settings of workloads are components.
"""

from ipaddress import IPv4Network
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
from aks_infiniband import (
    SIZES,
    FeatureRegistration,
    FeatureRegistrationArgs,
    InfinibandNodePool,
    InfinibandNodePoolArgs,
    IpoibNetwork,
    IpoibNetworkArgs,
    NetworkOperator,
    NetworkOperatorArgs,
    NicClusterPolicy,
    NicClusterPolicyArgs,
    Pool,
    WorkloadSettings,
    WorkloadSettingsArgs,
    pod_template_fragment,
    sample_job,
)
from aks_infiniband.facts import versions
from aks_infiniband.facts.pool import toleration
from aks_infiniband.operators import charts, ipoib
from aks_infiniband.stack.settings import ChartSettings, Readiness
from cluster import make_cluster

SIZE = SIZES["Standard_HB176rs_v4"]
TAINT = "sku=hpc:NoSchedule"

config = pulumi.Config()
location = pulumi.Config("azure-native").require("location")
machines = config.require_int("machines")


def of_library(section: str) -> dict[str, Any]:
    """A section of the library's own settings, which a stack file may hold beside ours."""
    return pulumi.Config("aks-infiniband").get_object(section) or {}


readiness = Readiness.model_validate(of_library("readiness"))
chart = charts.resolve(
    versions.NETWORK_OPERATOR_CHART,
    ChartSettings.model_validate(of_library("networkOperator").get("chart", {})),
)

ours = make_cluster(location, kubernetes_version=config.require("kubernetesVersion"))
provider = kubernetes.Provider(
    "hpc",
    kubeconfig=ours.kubeconfig,
    # What identifies the cluster: a changed kubeconfig alone replaces nothing.
    cluster_identifier=ours.cluster.id,
    opts=pulumi.ResourceOptions(deleted_with=ours.cluster),
)


# --- The machines. -------------------------------------------------------------------------------------------------


def charged_to_research(made: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    """Tags the pool with who pays for it."""
    if made.type_ != "azure-native:containerservice:AgentPool":
        return None
    return pulumi.ResourceTransformResult(props={**made.props, "tags": {"cost-centre": "research"}}, opts=made.opts)


# Without the subscription's feature, the machines of a pool would not share a fabric.
feature = FeatureRegistration("infiniband", args=FeatureRegistrationArgs(location=location, readiness=readiness))
pool = InfinibandNodePool(
    "hb",
    args=InfinibandNodePoolArgs(
        pool_name="hb",
        resource_group_name=ours.group.name,
        cluster_name=ours.cluster.name,
        subnet_id=ours.subnet.id,
        size=SIZE,
        gpu_driver="none",
        count=machines,
        taints=[TAINT],
        kubernetes_version=config.require("kubernetesVersion"),
    ),
    opts=pulumi.ResourceOptions(
        depends_on=[feature.registered],
        protect=config.get_bool("protectPool"),
        transforms=[charged_to_research],
        # Until last spring this program called it "mpi"; without this line the machines would be made anew.
        aliases=[pulumi.Alias(name="mpi")],
    ),
)

# --- What makes them talk RDMA: from here on everything is built from these plain facts. ---------------------------

(device, *_) = SIZE.ipoib_devices
facts = Pool(
    name="hb",
    size=SIZE,
    node_count=machines,
    node_selector=pool.node_selector,
    tolerations=(toleration(TAINT),),
    mode="ipoib",
    nic_driver="doca-ofed",
    gpu_driver="none",
    ipoib_networks=("fabric",),
    ipoib_devices=(device,),
)

inside = pulumi.ResourceOptions(provider=provider, deleted_with=ours.cluster)


def after(*others: pulumi.Input[pulumi.Resource]) -> pulumi.ResourceOptions:
    """Inside the cluster, once these are there."""
    return pulumi.ResourceOptions.merge(inside, pulumi.ResourceOptions(depends_on=list(others)))


operator = NetworkOperator(
    "network-operator",
    args=NetworkOperatorArgs(
        pools=[facts], chart=chart, timeout_seconds=readiness.timeout_seconds, kubeconfig=ours.kubeconfig
    ),
    opts=inside,
)
# It waits for the machines too: its state is ready when theirs is.
policy = NicClusterPolicy(
    "nics",
    args=NicClusterPolicyArgs(pools=[facts], timeout_seconds=readiness.timeout_seconds, kubeconfig=ours.kubeconfig),
    opts=after(operator, pool.ready),
)

namespace = kubernetes.core.v1.Namespace(
    "simulations",
    metadata={
        "name": "simulations",
        # Pods that may lock memory need this level; see docs/workloads.md.
        "labels": {"pod-security.kubernetes.io/enforce": "privileged"},
    },
    opts=inside,
)
IpoibNetwork(
    "ipoib",
    args=IpoibNetworkArgs(
        network=ipoib.Network(
            name="fabric",
            device=device,
            addresses=ipoib.Addresses(subnet=IPv4Network("192.168.0.0/16"), per_node=16),
            pools=(facts,),
        ),
        namespace="simulations",
        timeout_seconds=readiness.timeout_seconds,
        kubeconfig=ours.kubeconfig,
    ),
    opts=after(policy, namespace),
)
WorkloadSettings(
    "workload", args=WorkloadSettingsArgs(pools=[facts], namespaces=["simulations"]), opts=after(namespace)
)

pulumi.export("kubeconfig", ours.kubeconfig)
pulumi.export("podTemplate", pod_template_fragment(facts, network_namespace="simulations"))
pulumi.export("sampleJob", sample_job(facts, namespace="simulations", network_namespace="simulations"))
