"""Machines of AKS's GPU driver on which containers see the GPUs that they were given, and no others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pulumi

from aks_infiniband.facts.pool import Pool
from aks_infiniband.hosts.node_daemon import HostProgram, NodeDaemonArgs, script

NAME: Final = "nvidia-toolkit-hardening"
_HARDEN: Final = script("harden_toolkit.sh").rstrip()
"""AKS's node image has NVIDIA's container toolkit as it comes, and its runtime is containerd's default one: a container
without privileges that sets NVIDIA_VISIBLE_DEVICES=all, as NVIDIA's images do, gets every GPU (NVIDIA/aicr issue 1839,
2026-07-21). The toolkit reads its file whenever a container starts, so nothing is restarted.

`accept-nvidia-visible-devices-as-volume-mounts` stays off: with it a mount of /dev/null requests GPUs as the variable
does (nvidia-container-toolkit v1.20.0, internal/config/image/cuda_image.go). NVIDIA/aicr switches it on for a device
plugin that hands GPUs out as volumes; the GPU Operator's does so through CDI.
"""
_ONCE: Final = script("prepare_once.sh")
"""The file stays until the machine gets another disk, and then its pods start again."""


def unhardened(pools: Sequence[Pool]) -> list[Pool]:
    """The pools whose toolkit is that of AKS's node image. In other pools the GPU Operator's own toolkit is
    configured.
    """
    return [pool for pool in pools if pool.gpu_driver == "aks"]


def toolkit_hardening(pools: Sequence[Pool]) -> HostProgram:
    """The program that changes the toolkit's file on these pools' nodes."""
    return HostProgram(name=NAME, component="driver", pools=pools, script=_ONCE, argument=_HARDEN, once=True)


@dataclass(frozen=True, kw_only=True)
class ToolkitHardeningArgs(NodeDaemonArgs):
    """The arguments of a ToolkitHardening: pools whose GPU driver AKS owns."""


class ToolkitHardening(pulumi.ComponentResource):
    """Keeps GPUs from containers that did not request any. Ready when all nodes are so.

    On a node that joins later it is so within seconds of its joining; a pod that is there before it is not stopped.
    """

    def __init__(self, name: str, *, args: ToolkitHardeningArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:ToolkitHardening", name, None, opts)
        toolkit_hardening(args.pools).create(name, args, parent=self, opts=opts)
        self.register_outputs({})
