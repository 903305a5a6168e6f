"""RdmaCluster for every language: everything, from the settings of a stack file."""

from typing import Any, NotRequired, TypedDict

import pulumi

from aks_infiniband.stack import rdma_cluster
from aks_infiniband.stack.load import load, registry_credentials, stack_configuration


class RdmaClusterInputs(TypedDict):
    """The inputs of an RdmaCluster."""

    settings: NotRequired[dict[str, Any]]
    """The settings, by their keys in a stack file: azure-native:location, aks-infiniband:cluster,
    aks-infiniband:pools, … Paths in it must be absolute. A key that is not there is the stack file's, so that several
    clusters of one program share it."""
    registry_credentials: NotRequired[pulumi.Input[str]]
    """A Docker configuration (JSON) for the registry of images. Default: the stack's secret
    aks-infiniband:registryCredentials."""


class RdmaCluster(rdma_cluster.RdmaCluster):
    """A cluster whose pods talk RDMA over InfiniBand, validated."""

    pod_templates: dict[str, Any]
    """By pool: nodeCount and podTemplate; with node preparation also restrictedPodTemplate."""
    sample_jobs: dict[str, Any]
    """By pool, a List that kubectl applies as it is."""

    def __init__(self, name: str, args: RdmaClusterInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        given = args.get("registry_credentials")
        credentials = registry_credentials() if given is None else pulumi.Output.secret(given)
        stack = load({**stack_configuration(), **args.get("settings", {})}, credentials=credentials)
        super().__init__(name, args=rdma_cluster.RdmaClusterArgs(stack=stack), opts=opts)
