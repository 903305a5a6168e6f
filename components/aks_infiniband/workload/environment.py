"""The environment in which NCCL and RCCL, which reads the same variables, find the network they are to use.

Sources: NCCL's documentation ("Environment Variables"), the AKS InfiniBand guide (Azure/aks-rdma-infiniband) and what
its users report. The reason of each value stands beside it.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

Transport = Literal["infiniband", "ipoib", "roce", "tcp"]
"""What NCCL's data goes over between machines."""

# Rendezvous over the pod network; without it NCCL may choose an IPoIB interface (NCCL, NCCL_SOCKET_IFNAME).
_RENDEZVOUS: Final = {"NCCL_SOCKET_IFNAME": "eth0"}

_VERBS: Final[Mapping[str, str]] = {
    # RDMA only: with a network's name given, NCCL fails instead of silently falling back on sockets.
    # An external plugin that is to be used instead is named in the container's own environment (NCCL, NCCL_NET).
    "NCCL_NET": "IB",
    # A leftover of an image or of /etc/nccl.conf must not switch InfiniBand off (AKS guide,
    # tests/scenarios/k8s/values.yaml).
    "NCCL_IB_DISABLE": "0",
    # A virtual machine hides the PCI tree, so every GPU looks far from every HCA (AKS guide; NVIDIA/nccl issue 513).
    "NCCL_NET_GDR_LEVEL": "SYS",
    # Without it PCI writes of GPU and HCA wait for one another (AKS guide, pull request 36).
    "NCCL_IB_PCI_RELAXED_ORDERING": "1",
    **_RENDEZVOUS,
}

_OF_TRANSPORT: Final[Mapping[Transport, Mapping[str, str]]] = {
    # Which devices is nothing that can be said here: see LIST_HCAS.
    "infiniband": _VERBS,
    "roce": {
        **_VERBS,
        # The GID of RoCE v2 over IPv4; index 0 is RoCE v1 (NCCL, NCCL_IB_GID_INDEX).
        "NCCL_IB_GID_INDEX": "3",
        # DSCP 26 with the ECN-capable bits: the class that NVIDIA's lossless RoCE configuration puts RDMA traffic in.
        "NCCL_IB_TC": "106",
    },
    # Plain TCP/IP on IPoIB interfaces, for comparison and for programs without verbs; about 60 times slower than
    # InfiniBand itself (AKS guide, expected-output.md). The interfaces are those of the pod: see nccl_environment.
    "ipoib": {"NCCL_NET": "Socket", "NCCL_IB_DISABLE": "1"},
    # Plain TCP/IP on the pod network.
    "tcp": {"NCCL_NET": "Socket", "NCCL_IB_DISABLE": "1", **_RENDEZVOUS},
}

LIST_HCAS: Final = (
    'export NCCL_IB_HCA="=$(grep -lx InfiniBand /sys/class/infiniband/*/ports/1/link_layer'
    " | sed 's|.*/infiniband/||; s|/.*||' | paste -sd, -)\""
)
"""A line of shell for a container's start, after which NCCL uses the machine's InfiniBand devices and no other.

A pod that mounts the machine's /dev/infiniband (mode driver-only) sees the Ethernet device of accelerated networking
too, whose name does not tell: on AKS nodes it is mlx5_8 or any other mlx5_N, on Azure's HPC images mlx5_an0
(Azure/aks-rdma-infiniband 700dabb, rdma_test.sh, get_ib_devices). A device plugin that selects by link type leaves it
out of the pod, and libibverbs sees only what the pod holds.
"""


def nccl_environment(
    transport: Transport = "infiniband", *, ipoib_interfaces: Sequence[str] = ("net1",), service_level: int = 0
) -> dict[str, str]:
    """NCCL's and RCCL's environment for a transport.

    ipoib_interfaces: the pod's IPoIB interfaces, which transport ipoib uses side by side.
    service_level: that of the size's InfiniBand, for transport infiniband. 0 is NCCL's own.
    """
    environment = dict(_OF_TRANSPORT[transport])
    if transport == "infiniband" and service_level:
        environment["NCCL_IB_SL"] = str(service_level)
    if transport == "ipoib":
        environment["NCCL_SOCKET_IFNAME"] = ",".join(ipoib_interfaces)
    return environment
