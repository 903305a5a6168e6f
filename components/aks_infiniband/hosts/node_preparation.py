"""Kernel modules and the memlock limit: what pods need to use InfiniBand and no operator sets up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pulumi

from aks_infiniband.facts.pool import Pool
from aks_infiniband.hosts.node_daemon import HostProgram, NodeDaemonArgs, script

NAME: Final = "node-preparation"

_MODULES: Final = ("ib_umad", "rdma_ucm")
"""Without their character devices the RDMA device plugin offers 0 devices (k8s-rdma-shared-dev-plugin issue 192)."""
_INBOX_MODULES: Final = ("ib_ipoib",)
"""With OFED, openibd loads it. Without it the HCAs of an AKS node lack a network interface (kubernetes-sigs/dranet pull
request 77), and so both a link type for the device plugins' selectors and a parent for IPoIB.
"""

_LIFT_MEMLOCK: Final = script("lift_memlock.sh")
"""A pod has the limit of containerd; IPC_LOCK lifts it for root alone (nvidia-container-toolkit issue 2037). A unit is
restarted only while it runs with the old limit, so once: a kubelet that restarts takes the RDMA devices from its pods
(k8s-rdma-shared-dev-plugin issue 118).
"""

_ONCE: Final = script("prepare_once.sh")
"""The script ends when the node is prepared. That happens once: an OFED driver that reloads later loads its own
modules, and the kernel's must not be in its way.
"""


def host_script(modules: Sequence[str], *, memlock: bool) -> str:
    """The script that runs in the machine's own shell."""
    load = f"set -eu\nfor module in {' '.join(modules)}; do modprobe $module; done"
    return f"{load}\n{_LIFT_MEMLOCK}".rstrip() if memlock else load


def node_preparation(pools: Sequence[Pool], *, memlock: bool) -> HostProgram:
    """The program that prepares these pools' nodes.

    memlock: whether the limit of locked memory is lifted too, which restarts containerd and kubelet once.
    """
    inbox = any(pool.nic_driver == "inbox" for pool in pools)
    return HostProgram(
        name=NAME,
        component=NAME,
        pools=pools,
        script=_ONCE,
        argument=host_script((*_MODULES, *(_INBOX_MODULES if inbox else ())), memlock=memlock),
        once=True,
    )


def to_prepare(pools: Sequence[Pool], *, asked_for: bool) -> list[Pool]:
    """The pools whose nodes are prepared: all if the stack file enables it, otherwise those with the kernel's own
    driver.

    Such pools do not work without it. On the others OFED loads the modules itself.
    """
    return [pool for pool in pools if asked_for or pool.nic_driver == "inbox"]


@dataclass(frozen=True, kw_only=True)
class NodePreparationArgs(NodeDaemonArgs):
    """The arguments of a NodePreparation."""

    memlock: bool = True
    """True: containerd and kubelet, and with them all pods, get an unlimited memlock limit; both restart once."""


class NodePreparation(pulumi.ComponentResource):
    """Machines with ib_umad and rdma_ucm loaded, and memory that pods may lock; ready when all nodes are.

    Everything that puts workloads or device plugins on the nodes should depend on it: if memlock is lifted, kubelet
    restarts. A node that joins later is prepared within seconds of its joining.
    """

    def __init__(self, name: str, *, args: NodePreparationArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:NodePreparation", name, None, opts)
        node_preparation(args.pools, memlock=args.memlock).create(name, args, parent=self, opts=opts)
        self.register_outputs({})
