"""The steps of the public guides for a person, in their order, each step begun when the one before is done.

The order is that of Azure/aks-rdma-infiniband at 700dabb (2026-07-16), `tests/setup-infra/deploy-aks.sh`: resource
group and cluster, kube-prometheus, the feature's loop and the pool (`add_nodepool`), the Network Operator, its policy
and the wait for OFED, the GPU Operator and the wait for its validators; then `tests/scenarios/test.sh POLICY all` in
their own image. A step otherwise does what our program does for the same stack file. Left out, in the guides' favour:
the time between two commands, Prometheus' own start, the loops' pauses of 5 and 10 s, a second policy for the device
plugins before the tests, and `test.sh POLICY mpijob`, which pulls another image, built on CUDA's devel image.
"""

import dataclasses
from typing import Any

import aks_infiniband as rdma
import pulumi
import pulumi_kubernetes as kubernetes
from aks_infiniband.stack.azure_cluster import AzureClusterArgs

SUBSCRIPTION = "/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/network/providers"
SUBNET = f"{SUBSCRIPTION}/Microsoft.Network/virtualNetworks/hub/subnets/nodes"
IDENTITY = f"{SUBSCRIPTION}/Microsoft.ManagedIdentity/userAssignedIdentities/aks"
"""`az aks create` makes neither a network nor an identity that takes separate time; these are there already."""
TESTS_IMAGE = "ghcr.io/azure/aks-rdma-infiniband/ibtools:latest"
"""Image of all tests except `mpijob`, with GPUs and without (`tests/scenarios/k8s/values.yaml`)."""
MONITORING = ("prometheus/prometheus", "prometheus-operator/prometheus-operator", "grafana/grafana")
"""Images of kube-prometheus-stack, whose chart Helm waits for."""
# Plain data, as Kubernetes takes it: the SDK's types of nested mappings are more than a type checker can bear.
PRIVILEGED: Any = {"pod-security.kubernetes.io/enforce": "privileged"}
NAMESPACES = {"workload": "aks-infiniband", "system": "aks-infiniband-system"}

stack = rdma.load()
azure = stack.cluster
if not isinstance(azure, AzureClusterArgs):
    raise TypeError("the guides make a cluster in Azure")
done: list[pulumi.Input[pulumi.Resource]] = []


def then(*, provider: pulumi.ProviderResource | None = None) -> pulumi.ResourceOptions:
    """After all that is done so far."""
    return pulumi.ResourceOptions(depends_on=list(done), provider=provider)


network = azure.settings.network.model_copy(update={"node_subnet_id": SUBNET})
settings = azure.settings.model_copy(update={"network": network, "identity_id": IDENTITY})
cluster = rdma.AksCluster("aks", args=dataclasses.replace(azure.cluster, settings=settings))
provider = kubernetes.Provider("aks", kubeconfig=cluster.kubeconfig, enable_server_side_apply=True)
done.append(cluster)


def waited_for(image: str) -> Any:
    """The spec of a Deployment of one image."""
    labels = {"app": image.rpartition("/")[2]}
    pod = {"containers": [{"name": "main", "image": f"quay.io/{image}:any"}]}
    return {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}


monitoring = [
    kubernetes.apps.v1.Deployment(image.rpartition("/")[2], spec=waited_for(image), opts=then(provider=provider))
    for image in MONITORING
]
done += monitoring

if azure.feature is not None:
    done.append(rdma.FeatureRegistration("aks", args=azure.feature, opts=then()).registered)

for pool, machines in azure.pools:
    place: dict[str, Any] = {
        "resource_group_name": cluster.resource_group_name,
        "cluster_name": cluster.cluster_name,
        "subnet_id": cluster.subnet_id,
        "kubernetes_version": azure.settings.kubernetes_version,
    }
    if isinstance(pool, rdma.OrdinaryPool):
        ordinary = rdma.OrdinaryNodePoolArgs(pool=pool, **place)
        done.append(rdma.OrdinaryNodePool(pool.name, args=ordinary, opts=then()).ready)
    else:
        infiniband = rdma.InfinibandNodePoolArgs(pool=pool, machines=machines, **place)
        done.append(rdma.InfinibandNodePool(pool.name, args=infiniband, opts=then()).ready)

kubeconfig = cluster.kubeconfig
network_operator = stack.network_operator(kubeconfig)
assert network_operator is not None, "the guides install it"
done.append(rdma.NetworkOperator("network-operator", args=network_operator, opts=then(provider=provider)))
done.append(rdma.NicClusterPolicy("policy", args=stack.cluster_policy(kubeconfig), opts=then(provider=provider)))
for name, policy in stack.node_policies(kubeconfig).items():
    done.append(rdma.NicNodePolicy(f"policy-{name}", args=policy, opts=then(provider=provider)))
gpu_operator = stack.gpu_operator(kubeconfig)
if gpu_operator is not None:
    done.append(rdma.GpuOperator("gpu-operator", args=gpu_operator, opts=then(provider=provider)))

done += [
    kubernetes.core.v1.Namespace(name, metadata={"name": place, "labels": PRIVILEGED}, opts=then(provider=provider))
    for name, place in NAMESPACES.items()
]
for name, ipoib in stack.ipoib_networks(kubeconfig).items():
    done.append(rdma.IpoibNetwork(name, args=ipoib, opts=then(provider=provider)))
done.append(rdma.WorkloadSettings("workload", args=stack.workload_settings(), opts=then(provider=provider)))
for tested in stack.pools:
    ours = stack.validation_of(tested, kubeconfig)
    theirs = dataclasses.replace(ours, options=ours.options.model_copy(update={"image": TESTS_IMAGE}))
    test = rdma.Validation(tested.name, args=theirs, opts=then(provider=provider))
    done.append(test)
    pulumi.export(f"verdict-{tested.name}", test.report["verdict"])
