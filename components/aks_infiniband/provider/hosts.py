"""The programs that run on every machine of some pools, for every language."""

from typing import TypedDict

import pulumi

from aks_infiniband.hosts import dranet, node_preparation, peermem, toolkit_hardening
from aks_infiniband.hosts.node_daemon import NodeDaemonArgs
from aks_infiniband.provider.arguments import taken
from aks_infiniband.provider.inputs import describes


@describes(NodeDaemonArgs)
class NodeDaemonInputs(TypedDict):
    """The inputs of every DaemonSet of ours. The DaemonSet is ready when its pods are, on the nodes that are there."""


@describes(node_preparation.NodePreparationArgs)
class NodePreparationInputs(TypedDict):
    """The arguments of a NodePreparation."""


class NodePreparation(node_preparation.NodePreparation):
    """Machines with ib_umad and rdma_ucm loaded, and memory that pods may lock."""

    def __init__(self, name: str, args: NodePreparationInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(node_preparation.NodePreparationArgs, args), opts=opts)


class Dranet(dranet.Dranet):
    """The driver that hands adapters to pods by claims, and the class of its devices, for pools in mode dra."""

    def __init__(self, name: str, args: NodeDaemonInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(dranet.DranetArgs, args), opts=opts)


class PeermemLoader(peermem.PeermemLoader):
    """Keeps nvidia-peermem loaded, for pools whose GPU driver AKS owns."""

    def __init__(self, name: str, args: NodeDaemonInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(peermem.PeermemLoaderArgs, args), opts=opts)


class ToolkitHardening(toolkit_hardening.ToolkitHardening):
    """Keeps GPUs from containers that did not request any, for pools whose GPU driver AKS owns."""

    def __init__(self, name: str, args: NodeDaemonInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(toolkit_hardening.ToolkitHardeningArgs, args), opts=opts)
