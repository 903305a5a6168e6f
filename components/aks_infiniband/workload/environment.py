"""The environment in which NCCL and RCCL, which reads the same variables, find the network they are to use.

Sources: NCCL's documentation ("Environment Variables"), the AKS InfiniBand guide (Azure/aks-rdma-infiniband) and what
its users report. The reason of each value stands next to it in `environment.yaml`.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from aks_infiniband.facts.tables import table

Transport = Literal["infiniband", "ipoib", "roce", "tcp"]
"""The transport of NCCL's data between machines."""

_OF_TRANSPORT: Final[Mapping[str, Mapping[str, str]]] = table(__package__, "environment.yaml")

LIST_HCAS: Final = (
    'export NCCL_IB_HCA="=$(grep -lx InfiniBand /sys/class/infiniband/*/ports/1/link_layer'
    " | sed 's|.*/infiniband/||; s|/.*||' | paste -sd, -)\""
)
"""A line of shell for a container's start, after which NCCL uses the machine's InfiniBand devices and no other.

A pod that mounts the machine's /dev/infiniband (mode driver-only) sees the Ethernet device of accelerated networking
too, and its name does not identify it: on AKS nodes it is mlx5_8 or any other mlx5_N, on Azure's HPC images mlx5_an0
(Azure/aks-rdma-infiniband 700dabb, rdma_test.sh, get_ib_devices). A device plugin that selects by link type leaves it
out of the pod, and libibverbs sees only what the pod holds.
"""


def nccl_environment(
    transport: Transport = "infiniband",
    *,
    ipoib_interfaces: Sequence[str] = ("net1",),
    service_level: int = 0,
    gpu_vendor: Literal["nvidia", "amd"] | None = None,
) -> dict[str, str]:
    """NCCL's and RCCL's environment for a transport.

    ipoib_interfaces: the pod's IPoIB interfaces, which transport ipoib uses side by side.
    service_level: that of the size's InfiniBand, for transport infiniband. 0 is NCCL's own.
    gpu_vendor: of the machine's GPUs; RCCL needs more over InfiniBand than NCCL.
    """
    environment = dict(_OF_TRANSPORT[transport])
    if transport == "infiniband" and service_level:
        environment["NCCL_IB_SL"] = str(service_level)
    if transport == "infiniband" and gpu_vendor == "amd":
        environment |= _OF_TRANSPORT["amd"]
    if transport == "ipoib":
        environment["NCCL_SOCKET_IFNAME"] = ",".join(ipoib_interfaces)
    return environment
