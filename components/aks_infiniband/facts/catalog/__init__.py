"""The machine sizes: what is plugged into each, and what Azure requires for it.

One table, read by the components, by the rehearsal's simulated machines and by the tests. CPU, memory, accelerators
and InfiniBand are those of Azure's size pages ("Sizes for virtual machines", HPC and GPU families) and of the AKS
InfiniBand guide (Azure/aks-rdma-infiniband); PCI device IDs are those of the PCI ID Repository for the virtual
functions that Azure passes into the machine; PCI addresses are those of `slots`.
"""

from aks_infiniband.facts.catalog.described import described
from aks_infiniband.facts.catalog.machine import (
    Accelerator,
    Architecture,
    GpuDriver,
    GpuSoftware,
    Infiniband,
    LinkGeneration,
    MachineSize,
    Mode,
    NicDriver,
    PciSlot,
    Processor,
)
from aks_infiniband.facts.catalog.sizes import SIZES

__all__ = [
    "SIZES",
    "Accelerator",
    "Architecture",
    "GpuDriver",
    "GpuSoftware",
    "Infiniband",
    "LinkGeneration",
    "MachineSize",
    "Mode",
    "NicDriver",
    "PciSlot",
    "Processor",
    "described",
]
