"""A person's answers on a workload and on the place in which it is to run."""

from dataclasses import dataclass
from typing import Literal

from aks_infiniband.facts.catalog.machine import GpuDriver

Workload = Literal["training", "fine-tuning", "inference", "mpi", "tcp-ip"]
"""tcp-ip: programs that speak TCP/IP only and shall stay as they are."""
Fabric = Literal["infiniband", "roce", "ethernet"]
"""The network that joins the machines of an existing cluster; Azure's HPC sizes have InfiniBand."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The answers. An answer is None if a person does not know it, or leaves it to the program."""

    workloads: tuple[Workload, ...]
    """The workloads that will run, at least one."""
    vm_size: str | None = None
    """Size of a machine, by Azure's name."""
    gpus: int | None = None
    """GPUs wanted, of all machines together."""
    nodes: int | None = None
    """Machines wanted."""
    verbs: bool | None = None
    """True if the programs use RDMA verbs, or a library that does: NCCL, RCCL, UCX, an MPI over them. Programs of
    tcp-ip never do.
    """
    gpu_driver: GpuDriver | None = None
    """Owner of the GPUs' driver."""
    existing: bool = False
    """True if the cluster is there already."""
    fabric: Fabric = "infiniband"
    """Network of an existing cluster's machines."""
    region: str = "southcentralus"
    """Azure's name; of a new cluster."""
