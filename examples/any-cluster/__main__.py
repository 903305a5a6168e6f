"""RDMA for the machines of a cluster that somebody else made and keeps: no Azure resource is touched.

Settings are read, and checked as a whole, as the project's own program does; what is built from them is chosen here.
"""

import pulumi
import pulumi_kubernetes as kubernetes
from aks_infiniband import (
    GpuOperator,
    NetworkOperator,
    NicClusterPolicy,
    Validation,
    WorkloadSettings,
    load,
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
    # Everything here is changed in place where that is possible.
    enable_server_side_apply=True,
    enable_config_map_mutable=True,
)


def labelled(made: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    """Every object says which team asked for it."""
    metadata = made.props.get("metadata")
    if not isinstance(metadata, dict):
        return None
    owned = {**metadata, "labels": {**(metadata.get("labels") or {}), "team": "lab"}}
    return pulumi.ResourceTransformResult(props={**made.props, "metadata": owned}, opts=made.opts)


inside = pulumi.ResourceOptions(provider=provider, transforms=[labelled])


def after(*others: pulumi.Resource) -> pulumi.ResourceOptions:
    """With the cluster's provider, once these are there; on destroy these go last."""
    return pulumi.ResourceOptions.merge(inside, pulumi.ResourceOptions(depends_on=list(others)))


network_operator = NetworkOperator("network-operator", args=stack.network_operator(kubeconfig), opts=inside)
policy = NicClusterPolicy("nics", args=stack.cluster_policy(kubeconfig), opts=after(network_operator))
gpus = stack.gpu_operator(kubeconfig)
assert gpus is not None, "this program is for machines with GPUs"
gpu_operator = GpuOperator("gpu-operator", args=gpus, opts=after(policy))

namespace = kubernetes.core.v1.Namespace(
    "aks-infiniband",
    metadata={
        "name": stack.namespaces[0],
        # Pods that may lock memory need this level; see docs/workloads.md.
        "labels": {"pod-security.kubernetes.io/enforce": "privileged"},
    },
    opts=inside,
)
workload_settings = WorkloadSettings("workload", args=stack.workload_settings(), opts=after(namespace))

for pool in stack.pools:
    validation = Validation(
        f"validation-{pool.name}",
        args=stack.validation_of(pool, kubeconfig),
        opts=after(policy, gpu_operator, workload_settings),
    )
    pulumi.export(f"validation-{pool.name}", validation.report)
    pulumi.export(f"sampleJob-{pool.name}", sample_job(pool))
