"""A platform team's own AKS cluster, and from aks_infiniband what the team does not want to write itself."""

from ipaddress import IPv4Network

import aks_infiniband as rdma
import cluster as ours
import pulumi
import pulumi_kubernetes as kubernetes

config = pulumi.Config()

# Described once: the machines, and all that is put on them, are built from it.
pool = rdma.Pool(
    name="hb",
    size=rdma.SIZES["Standard_HB176rs_v4"],
    node_count=config.require_int("machines"),
    gpu_driver="none",
    mode="ipoib",
    taints=("sku=hpc:NoSchedule",),
    ipoib_networks=("fabric",),
)


def charged_to_research(made: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    """Tags the pool with who pays for it."""
    if made.type_ != "azure-native:containerservice:AgentPool":
        return None
    return pulumi.ResourceTransformResult(props={**made.props, "tags": {"cost-centre": "research"}}, opts=made.opts)


def after(*others: pulumi.Input[pulumi.Resource]) -> pulumi.ResourceOptions:
    """Inside the cluster, once these are there."""
    return pulumi.ResourceOptions(provider=ours.provider, deleted_with=ours.cluster, depends_on=list(others))


# Without the subscription's feature, the machines of a pool would not share a fabric.
feature = rdma.FeatureRegistration("infiniband", args=rdma.FeatureRegistrationArgs(location=ours.location))
machines = rdma.InfinibandNodePool(
    "hb",
    args=rdma.InfinibandNodePoolArgs(
        pool=pool,
        resource_group_name=ours.group.name,
        cluster_name=ours.cluster.name,
        kubernetes_version=ours.kubernetes_version,
    ),
    opts=pulumi.ResourceOptions(
        depends_on=[feature.registered],
        protect=config.get_bool("protectPool"),
        transforms=[charged_to_research],
        # Until last spring this program called it "mpi"; without this line the machines would be made again.
        aliases=[pulumi.Alias(name="mpi")],
    ),
)

# The library's own setting for a chart from elsewhere, which a stack file may hold next to ours.
given = (pulumi.Config("aks-infiniband").get_object("networkOperator") or {}).get("chart", {})
chart = rdma.chart_source(rdma.NETWORK_OPERATOR_CHART, **given)
operator_args = rdma.NetworkOperatorArgs(pools=[pool], chart=chart, kubeconfig=ours.kubeconfig)
operator = rdma.NetworkOperator("network-operator", args=operator_args, opts=after())
# The pool waits for the machines too: its state is ready when theirs is.
policy_args = rdma.NicClusterPolicyArgs(policies=rdma.nic_policy_specs([pool]), kubeconfig=ours.kubeconfig)
policy = rdma.NicClusterPolicy("nics", args=policy_args, opts=after(operator, machines.ready))

# Pods that may lock memory need this level; see docs/workloads.md.
privileged = {"pod-security.kubernetes.io/enforce": "privileged"}
namespace = kubernetes.core.v1.Namespace(
    "simulations", metadata={"name": "simulations", "labels": privileged}, opts=after()
)
(network,) = rdma.ipoib_networks([pool], IPv4Network("192.168.0.0/16"))
network_args = rdma.IpoibNetworkArgs(network=network, namespace="simulations", kubeconfig=ours.kubeconfig)
rdma.IpoibNetwork("ipoib", args=network_args, opts=after(policy, namespace))
settings_args = rdma.WorkloadSettingsArgs(pools=[pool], namespaces=["simulations"])
rdma.WorkloadSettings("workload", args=settings_args, opts=after(namespace))

pulumi.export("kubeconfig", ours.kubeconfig)
pulumi.export("podTemplate", rdma.pod_template_fragment(pool, network_namespace="simulations"))
pulumi.export("sampleJob", rdma.sample_job(pool, namespace="simulations", network_namespace="simulations"))
