"""The AKS cluster for every language."""

from typing import Any, TypedDict

import pulumi

from aks_infiniband.azure import arguments, cluster
from aks_infiniband.provider.arguments import taken
from aks_infiniband.provider.inputs import describes


@describes(arguments.SystemPool)
class SystemPoolDescription(TypedDict):
    """The pool that carries the pods of the cluster and of the operators. The description counts when the cluster is
    made.
    """


@describes(arguments.ClusterNetwork)
class ClusterNetworkDescription(TypedDict):
    """Address ranges (CIDR) and the way out. Set when the cluster is made."""


@describes(arguments.ApiServer)
class ApiServerDescription(TypedDict):
    """Access to the Kubernetes API."""


@describes(arguments.Access)
class AccessDescription(TypedDict):
    """Logins of people and programs."""


@describes(arguments.Cluster)
class ClusterDescription(TypedDict):
    """The AKS cluster and what it stands in, as a stack file describes it under aks-infiniband:cluster."""


@describes(cluster.AksClusterArgs)
class AksClusterInputs(TypedDict):
    """The inputs of an AksCluster."""


class AksCluster(cluster.AksCluster):
    """An AKS cluster with one system pool, its resource group, network and identity."""

    managed_cluster: Any
    """The same as clusterId."""

    def __init__(self, name: str, args: AksClusterInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(cluster.AksClusterArgs, args), opts=opts)
        self.managed_cluster = self.managed_cluster.id
