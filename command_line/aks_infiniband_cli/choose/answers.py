"""What a person says of a workload and of where it is to run."""

from dataclasses import dataclass
from typing import Literal

from aks_infiniband.facts.catalog.machine import GpuDriver

Workload = Literal["training", "fine-tuning", "inference", "mpi", "tcp-ip"]
"""tcp-ip: programs that speak TCP/IP only and shall stay as they are."""
Fabric = Literal["infiniband", "roce", "ethernet"]
"""What joins the machines of an existing cluster; Azure's HPC sizes have InfiniBand."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The answers. An answer is None if a person does not know it, or leaves it to the program."""

    workloads: tuple[Workload, ...]
    """What will run, at least one."""
    vm_size: str | None = None
    """Of a machine, by Azure's name."""
    gpus: int | None = None
    """GPUs wanted, of all machines together."""
    nodes: int | None = None
    """Machines wanted."""
    verbs: bool | None = None
    """Whether the programs use RDMA verbs, or a library that does: NCCL, RCCL, UCX, an MPI over them. Those of tcp-ip
    never do."""
    gpu_driver: GpuDriver | None = None
    """Who is to install the GPUs' driver."""
    existing: bool = False
    """Whether the cluster is there already."""
    fabric: Fabric = "infiniband"
    """Of an existing cluster's machines."""
    region: str = "southcentralus"
    """Azure's name; of a new cluster."""
