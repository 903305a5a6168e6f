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
    ValidationArgs,
    WorkloadSettings,
    WorkloadSettingsArgs,
    load,
    read_kubeconfig,
    sample_job,
    stack_configuration,
)
from aks_infiniband.stack import operators, plan, revalidation
from aks_infiniband.workload import pods

settings = load(stack_configuration())
assert settings.existing_cluster is not None, "this program is for a cluster that is there already"
existing = read_kubeconfig(settings.existing_cluster.kubeconfig, context=settings.existing_cluster.context)
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


pools = plan.pools_of(settings)
wanted = operators.configure(settings, list(pools))

network_operator = NetworkOperator("network-operator", args=wanted.network(kubeconfig), opts=inside)
policy = NicClusterPolicy("nics", args=wanted.policy(kubeconfig), opts=after(network_operator))
gpu_operator = GpuOperator("gpu-operator", args=wanted.gpu(kubeconfig), opts=after(policy))

namespace = kubernetes.core.v1.Namespace(
    "aks-infiniband",
    metadata={
        "name": pods.NAMESPACE,
        # Pods that may lock memory need this level; see docs/workloads.md.
        "labels": {"pod-security.kubernetes.io/enforce": "privileged"},
    },
    opts=inside,
)
workload_settings = WorkloadSettings("workload", args=WorkloadSettingsArgs(pools=pools), opts=after(namespace))

for pool in pools:
    validation = Validation(
        f"validation-{pool.name}",
        args=ValidationArgs(
            pool=pool,
            options=revalidation.validation_options(settings.validation),
            waits=revalidation.waits(settings.readiness),
            kubeconfig=kubeconfig,
            # When one of these changes, an earlier result says nothing any more.
            revalidate_when=revalidation.revalidate_when(wanted, pool),
        ),
        opts=after(policy, gpu_operator, workload_settings),
    )
    pulumi.export(f"validation-{pool.name}", validation.report)
    pulumi.export(f"sampleJob-{pool.name}", sample_job(pool))
