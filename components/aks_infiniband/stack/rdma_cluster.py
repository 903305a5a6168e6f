"""The composition: from a stack to a validated cluster, made in Azure or made by somebody else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband.access.kubeconfig_file import KubeconfigFile
from aks_infiniband.resources.options import child_options
from aks_infiniband.stack.azure_cluster import AzureCluster, AzureClusterArgs
from aks_infiniband.stack.rdma_software import PoolsReady, RdmaSoftware, RdmaSoftwareArgs
from aks_infiniband.stack.stack import Stack


@dataclass(frozen=True, kw_only=True)
class RdmaClusterArgs:
    """What an RdmaCluster takes."""

    stack: Stack
    """What the stack file comes to; `load` makes it."""


@dataclass(frozen=True, kw_only=True)
class _Place:
    """The cluster that the software goes into."""

    name: pulumi.Input[str]
    kubeconfig: pulumi.Output[str]
    identifier: pulumi.Input[str]
    """What stays the same while the kubeconfig changes."""
    pools_ready: PoolsReady = field(default_factory=dict)
    deleted_with: pulumi.Resource | None = None
    """With the cluster goes all that lives in it; one that others keep is cleared piece by piece."""


class RdmaCluster(pulumi.ComponentResource):
    """A cluster whose pods talk RDMA over InfiniBand, validated."""

    cluster_name: pulumi.Output[str]
    kubeconfig: pulumi.Output[str]
    """YAML, secret."""
    pools: dict[str, dict[str, Any]]
    """By pool: vmSize, nodeCount, mode, rdmaResource, podTemplate and validation."""
    sample_jobs: Mapping[str, pulumi.Output[dict[str, Any]]]
    """By pool, a List that kubectl applies as it is."""

    def __init__(self, name: str, *, args: RdmaClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:RdmaCluster", name, None, opts)
        stack, cluster = args.stack, args.stack.cluster
        if isinstance(cluster, AzureClusterArgs):
            place = _made(AzureCluster(name, args=cluster, opts=child_options(self, opts)))
        else:
            place = _existing(cluster)
        provider = kubernetes.Provider(
            name,
            kubeconfig=place.kubeconfig,
            cluster_identifier=place.identifier,
            enable_server_side_apply=True,
            # A ConfigMap is changed in place: replacing the report's would lose the last accepted report.
            enable_config_map_mutable=True,
            opts=child_options(self, opts, deleted_with=place.deleted_with),
        )
        software = RdmaSoftware(
            name,
            args=RdmaSoftwareArgs(stack=stack, kubeconfig=place.kubeconfig, pools_ready=place.pools_ready),
            opts=child_options(self, opts, provider=provider, deleted_with=place.deleted_with),
        )
        self.cluster_name = pulumi.Output.from_input(place.name)
        self.kubeconfig = place.kubeconfig
        self.pools = software.pools
        self.sample_jobs = software.sample_jobs
        self.register_outputs({"clusterName": self.cluster_name, "kubeconfig": self.kubeconfig, "pools": self.pools})


def _made(made: AzureCluster) -> _Place:
    return _Place(
        name=made.cluster.cluster_name,
        kubeconfig=made.cluster.kubeconfig,
        identifier=made.cluster.cluster_id,
        pools_ready=made.pools_ready,
        deleted_with=made.cluster.managed_cluster,
    )


def _existing(found: KubeconfigFile) -> _Place:
    return _Place(
        name=found.context,
        kubeconfig=pulumi.Output.secret(found.kubeconfig),
        identifier=found.cluster_identifier,
    )
