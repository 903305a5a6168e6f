"""Loads nvidia-peermem on machines whose GPU driver AKS installs: nothing else loads it there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pulumi

from aks_infiniband.facts.pool import Pool
from aks_infiniband.hosts.node_daemon import HostProgram, NodeDaemonArgs, script

_LOAD: Final = script("load_peermem.sh").rstrip()
"""The OFED container keeps that file while its driver is loaded; the GPU Operator waits for it too. A module that is
loaded in the middle of a reload makes the reload fail (Mellanox/doca-driver-build pull request 481)."""

_AGAIN_AND_AGAIN: Final = script("keep_peermem.sh")
"""The script tries every 30 s: the module needs the GPU driver and OFED, and OFED unloads it whenever OFED reloads.

A module that does not load does not fail the node: on AKS's node images it may be a stub that always refuses, with a
driver whose GPUs do DMA-BUF (NVIDIA/aicr, docs/integrator/aks-gpu-setup.md). A loaded module proves nothing either: the
validation measures GPUDirect RDMA.
"""


def peermem_pools(pools: Sequence[Pool]) -> list[Pool]:
    """The pools that need it: those with AKS's GPU driver and OFED whose HCAs do not reach GPUs by DMA-BUF."""
    return [pool for pool in pools if pool.gpu_driver == "aks" and not pool.dma_buf]


def peermem(pools: Sequence[Pool]) -> HostProgram:
    """The program that keeps the module loaded on these pools' nodes."""
    return HostProgram(
        name="nvidia-peermem", component="driver", pools=pools, script=_AGAIN_AND_AGAIN, argument=_LOAD, once=False
    )


@dataclass(frozen=True, kw_only=True)
class PeermemLoaderArgs(NodeDaemonArgs):
    """The arguments of a PeermemLoader: pools whose GPU driver AKS owns."""


class PeermemLoader(pulumi.ComponentResource):
    """Keeps nvidia-peermem loaded. Ready when it runs on all nodes, whether the module loads or not."""

    def __init__(self, name: str, *, args: PeermemLoaderArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:PeermemLoader", name, None, opts)
        peermem(args.pools).create(name, args, parent=self, opts=opts)
        self.register_outputs({})
