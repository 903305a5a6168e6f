"""RDMA for the machines of a cluster that others made and keep: no Azure resource is touched.

Settings are read, and checked as a whole, as the project's own program does; what is built from them is chosen here.
"""

import pulumi
import pulumi_kubernetes as kubernetes
from aks_infiniband import (
    GpuOperator,
    NetworkOperator,
    NicClusterPolicy,
    Validation,
    ValidationAccess,
    WorkloadGuard,
    WorkloadSettings,
    load,
    never_take_over,
    sample_job,
)

stack = load()
existing = stack.existing
assert existing is not None, "this program is for a cluster that is there already"
kubeconfig = pulumi.Output.secret(existing.kubeconfig)
provider = kubernetes.Provider(
    "lab",
    kubeconfig=kubeconfig,
    cluster_identifier=existing.cluster_identifier,
    # Everything here is changed in place if that is possible.
    enable_server_side_apply=True,
    enable_config_map_mutable=True,
)


def labelled(made: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    """Every object names the team that it belongs to."""
    metadata = made.props.get("metadata")
    if not isinstance(metadata, dict):
        return None
    owned = {**metadata, "labels": {**(metadata.get("labels") or {}), "team": "lab"}}
    return pulumi.ResourceTransformResult(props={**made.props, "metadata": owned}, opts=made.opts)


# The library's components never take over what is there already. This keeps the program's own namespaces from it, too.
inside = pulumi.ResourceOptions(provider=provider, transforms=[labelled], transformations=[never_take_over])


def after(*others: pulumi.Resource) -> pulumi.ResourceOptions:
    """With the cluster's provider, once these are there; on destroy these go last."""
    return pulumi.ResourceOptions.merge(inside, pulumi.ResourceOptions(depends_on=list(others)))


network = stack.network_operator(kubeconfig)
assert network is not None, "this program installs the Network Operator: leave out networkOperator.existing"
network_operator = NetworkOperator("network-operator", args=network, opts=inside)
policy = NicClusterPolicy("nics", args=stack.cluster_policy(kubeconfig), opts=after(network_operator))
gpus = stack.gpu_operator(kubeconfig)
assert gpus is not None, "this program is for machines with GPUs"
gpu_operator = GpuOperator("gpu-operator", args=gpus, opts=after(policy))

# Pods that may lock memory need this level; of all that it admits, the guard leaves them no more than that.
privileged = {"pod-security.kubernetes.io/enforce": "privileged"}
namespace = kubernetes.core.v1.Namespace(
    "aks-infiniband", metadata={"name": stack.namespaces[0], "labels": privileged}, opts=inside
)
guard = stack.workload_guard()
if guard is not None:
    WorkloadGuard("workload", args=guard, opts=inside)
WorkloadSettings("workload", args=stack.workload_settings(), opts=after(namespace))

# Pools are validated in a namespace without workloads.
shared = stack.validation_access()
system = kubernetes.core.v1.Namespace("system", metadata={"name": shared.namespace, "labels": privileged}, opts=inside)
access = ValidationAccess("validation", args=shared, opts=after(system))

for pool in stack.pools:
    validation = Validation(
        f"validation-{pool.name}",
        args=stack.validation_of(pool, kubeconfig, access=access),
        opts=after(policy, gpu_operator),
    )
    pulumi.export(f"validation-{pool.name}", validation.report["verdict"])
    pulumi.export(f"sampleJob-{pool.name}", sample_job(pool))
