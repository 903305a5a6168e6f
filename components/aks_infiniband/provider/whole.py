"""RdmaCluster for every language: everything, from the settings of a stack file."""

from typing import Any, NotRequired, TypedDict

import pulumi

from aks_infiniband.provider.inputs import whole_numbers
from aks_infiniband.stack import rdma_cluster
from aks_infiniband.stack.load import load


class RdmaClusterInputs(TypedDict):
    """What an RdmaCluster takes."""

    settings: NotRequired[dict[str, Any]]
    """The settings, by their keys in a stack file: azure-native:location, aks-infiniband:cluster,
    aks-infiniband:pools, … Paths in it must be absolute. Default: those of the stack file."""
    registry_credentials: NotRequired[pulumi.Input[str]]
    """A Docker configuration (JSON) for the registry of images, beside settings. Without settings, the stack's secret
    aks-infiniband:registryCredentials is taken."""


class RdmaCluster(rdma_cluster.RdmaCluster):
    """A cluster whose pods talk RDMA over InfiniBand, validated."""

    sample_jobs: dict[str, Any]
    """By pool, a List that kubectl applies as it is."""

    def __init__(self, name: str, args: RdmaClusterInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        settings, credentials = args.get("settings"), args.get("registry_credentials")
        if settings is None and credentials is not None:
            raise ValueError("registryCredentials is given without settings; set it in the stack file then")
        secret = None if credentials is None else pulumi.Output.secret(credentials)
        stack = load(None if settings is None else whole_numbers(settings), credentials=secret)
        super().__init__(name, args=rdma_cluster.RdmaClusterArgs(stack=stack), opts=opts)
