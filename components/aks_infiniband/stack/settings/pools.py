"""Settings of the node pools, and of machine sizes that the catalogue does not know."""

from typing import Annotated, Final, Literal

from pydantic import Field

from aks_infiniband.azure.machines import Machines, OrdinaryPool
from aks_infiniband.facts import rules
from aks_infiniband.facts.catalog.machine import Architecture, LinkGeneration
from aks_infiniband.facts.pool import PoolProperties
from aks_infiniband.facts.rules import Text
from aks_infiniband.handwritten.section import Section


class PoolSettings(OrdinaryPool, PoolProperties):
    """One pool of machines. Two pools never share a fabric."""

    infiniband: bool = Field(default=True, strict=True)
    """False for a pool of ordinary machines in addition to the others: any size without InfiniBand."""
    nccl_topology: Text | None = None
    """Path of an NCCL topology file, relative to the project. Default: generated from the catalogue."""
    images: tuple[Annotated[str, rules.image], ...] = ()
    """Images of the pool's workloads. Each must contain a shell. The nodes pull them while their drivers are installed,
    after the images of the validation."""


IN_AZURE_ONLY: Final = (*Machines.model_fields, "priority")
"""Fields of a pool that mean something only if the pool is made in Azure."""
INFINIBAND_ONLY: Final = tuple(
    name
    for name in PoolSettings.model_fields
    if name not in OrdinaryPool.model_fields and name not in ("infiniband", "node_selector")
)
"""Fields of a pool that mean something only with InfiniBand."""


class DescribedInfiniband(Section):
    """The InfiniBand adapters of a described size."""

    hca_count: int = Field(ge=1, le=16, strict=True)
    """HCAs of one machine, each with one port."""
    generation: LinkGeneration
    """Generation of the links."""
    rate_gbps: int | None = Field(default=None, ge=1, le=10_000, strict=True)
    """Signalling rate of one port in Gb/s. Default: the generation's."""
    adapter: Literal["ConnectX-5", "ConnectX-6", "ConnectX-7", "ConnectX-8"]
    """The PCI device ID follows from it."""
    vf_device_id: Annotated[str, rules.pci_id] | None = None
    """PCI device ID of the virtual function. Default: the adapter's."""


class DescribedAccelerator(Section):
    """The GPUs of a described size."""

    vendor: Literal["nvidia", "amd"]
    """Their maker."""
    model: Annotated[str, rules.word]
    """Such as B200."""
    count: int = Field(ge=1, le=16, strict=True)
    """GPUs of one machine."""
    memory_gb: int = Field(ge=1, le=10_000, strict=True)
    """Memory of one GPU, in GB as its vendor states it."""


class DescribedSize(Section):
    """A machine size that the catalogue does not know, in the catalogue's terms.

    ```yaml
    aks-infiniband:sizes:
      Standard_ND128isr_B300_v7:
        vcpus: 128
        memoryGib: 2048
        series: ND_B300_v7
        infiniband: {hcaCount: 8, generation: XDR, adapter: ConnectX-8}
        accelerator: {vendor: nvidia, model: B300, count: 8, memoryGb: 288}
    ```
    """

    vcpus: int = Field(ge=1, le=4096, strict=True)
    """Virtual CPUs of one machine."""
    memory_gib: int = Field(ge=1, le=100_000, strict=True)
    """Memory of one machine, in GiB."""
    series: Annotated[str, rules.word]
    """The family whose vCPU quota the size counts against."""
    infiniband: DescribedInfiniband
    """Its InfiniBand adapters."""
    accelerator: DescribedAccelerator | None = None
    """Its GPUs. Default: none."""
    architecture: Architecture = "amd64"
    """Architecture of its processors."""
    placement_feature: bool = Field(default=True, strict=True)
    """True: AKSInfinibandSupport must be registered; false: it must not be."""
