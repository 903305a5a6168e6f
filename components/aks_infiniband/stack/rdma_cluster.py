"""The composition: from a stack to a validated cluster, made in Azure or made by others."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband.observability import definitions
from aks_infiniband.resources.options import child_options
from aks_infiniband.stack import beforehand
from aks_infiniband.stack.adopted_pools import AdoptedPools
from aks_infiniband.stack.azure_cluster import AzureCluster, AzureClusterArgs
from aks_infiniband.stack.pool_outputs import pod_templates
from aks_infiniband.stack.rdma_software import RdmaSoftware, RdmaSoftwareArgs
from aks_infiniband.stack.stack import Stack


@dataclass(frozen=True, kw_only=True)
class RdmaClusterArgs:
    """The arguments of an RdmaCluster."""

    stack: Stack
    """The stack file, resolved; `load` makes it."""


class RdmaCluster(pulumi.ComponentResource):
    """A cluster whose pods talk RDMA over InfiniBand, validated."""

    cluster_name: pulumi.Output[str]
    """Its name in Azure; of a cluster that exists already, the name of the context in its kubeconfig."""
    kubeconfig: pulumi.Output[str]
    """YAML, secret."""
    pools: dict[str, dict[str, Any]]
    """By pool: vmSize, nodeCount, mode, rdmaResource, and of its validation verdict, coverage and finished."""
    pod_templates: Mapping[str, dict[str, Any]]
    """By pool: nodeCount and podTemplate; with node preparation also restrictedPodTemplate."""
    sample_jobs: Mapping[str, pulumi.Output[dict[str, Any]]]
    """By pool, a List that kubectl applies as it is."""

    def __init__(self, name: str, *, args: RdmaClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:RdmaCluster", name, None, opts)
        cluster = args.stack.cluster
        made: AzureCluster | None = None
        adopted: AdoptedPools | None = None
        if isinstance(cluster, AzureClusterArgs):
            made = AzureCluster(name, args=cluster, opts=child_options(self, opts))
            self.cluster_name, self.kubeconfig = made.cluster.cluster_name, made.cluster.kubeconfig
            identifier: pulumi.Input[str] = made.cluster.cluster_id
        else:
            self.cluster_name = pulumi.Output.from_input(cluster.context)
            self.kubeconfig = pulumi.Output.secret(cluster.kubeconfig)
            identifier = cluster.cluster_identifier
            if args.stack.adopted is not None:
                adopted = AdoptedPools(name, args=args.stack.adopted, opts=child_options(self, opts))
        # All that lives in a cluster that is made goes with it; one that others keep is cleared piece by piece.
        deleted_with = made.cluster.managed_cluster if made else None
        pools_ready = next((pools.pools_ready for pools in (made, adopted) if pools), {})
        kubeconfig, watched = self.kubeconfig, args.stack.settings.observability
        if watched is not None:  # looked at first, because everything in the cluster waits for the provider
            prometheus = watched.prometheus
            kubeconfig = kubeconfig.apply(lambda text: definitions.required(text, prometheus))
        stack = args.stack
        if beforehand.needed(stack):
            kubeconfig = kubeconfig.apply(lambda text: beforehand.required(text, stack))
        provider = kubernetes.Provider(
            name,
            kubeconfig=kubeconfig,
            # The part that stays the same while the kubeconfig changes.
            cluster_identifier=identifier,
            enable_server_side_apply=True,
            # A ConfigMap is changed in place: replacing the report's would lose the last accepted report.
            enable_config_map_mutable=True,
            opts=child_options(self, opts, deleted_with=deleted_with),
        )
        software = RdmaSoftware(
            name,
            args=RdmaSoftwareArgs(stack=args.stack, kubeconfig=self.kubeconfig, pools_ready=pools_ready),
            opts=child_options(self, opts, provider=provider, deleted_with=deleted_with),
        )
        self.pools = software.pools
        self.pod_templates = {pool.name: pod_templates(stack, pool) for pool in stack.pools}
        self.sample_jobs = software.sample_jobs
        self.register_outputs({"clusterName": self.cluster_name, "kubeconfig": self.kubeconfig})
