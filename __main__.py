"""The Pulumi program: the stack's configuration, one component, its outputs."""

import gc

gc.disable()  # it runs for seconds and keeps what it makes: looking for garbage took a quarter of them

import pulumi  # noqa: E402
from aks_infiniband import (  # noqa: E402
    RdmaCluster,
    RdmaClusterArgs,
    load,
    registry_credentials,
    stack_configuration,
)

cluster = RdmaCluster(
    "rdma",
    args=RdmaClusterArgs(settings=load(stack_configuration()), registry_credentials=registry_credentials()),
)

pulumi.export("clusterName", cluster.cluster_name)
pulumi.export("kubeconfig", cluster.kubeconfig)
pulumi.export("pools", cluster.pools)
for pool, job in cluster.sample_jobs.items():
    # An output of its own, because `pulumi stack output` gives a whole one: pipe it into `kubectl apply -f -`.
    pulumi.export(f"sampleJob-{pool}", job)
