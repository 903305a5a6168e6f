"""Settings of the node pools, and of machine sizes that the catalogue does not know."""

from typing import Annotated, Final, Literal

from pydantic import Field

from aks_infiniband.azure.machines import Machines, OrdinaryPool
from aks_infiniband.facts import rules
from aks_infiniband.facts.catalog.machine import (
    Architecture,
    GpuDevicePlugin,
    GpuDirect,
    GpuDriver,
    LinkGeneration,
    Mode,
    NicDriver,
)
from aks_infiniband.facts.rules import Labels, Text
from aks_infiniband.handwritten.section import Section


class PoolSettings(OrdinaryPool):
    """One pool of machines. Two pools never share a fabric."""

    infiniband: bool = Field(default=True, strict=True)
    """False for a pool of ordinary machines beside the others: any size without InfiniBand."""
    mode: Mode | None = None
    """How pods get InfiniBand. Default: the network operator's mode."""
    nic_driver: NicDriver | None = None
    """Whose mlx5 driver: doca-ofed or inbox. Default: the network operator's."""
    gpu_driver: GpuDriver | None = None
    """Who owns the GPUs' driver. operator: NVIDIA's, or AMD's, GPU Operator. aks: AKS, for NVIDIA's GPUs. image:
    whoever made the node image, for AMD's and for GB200 and GB300. none: nobody we know of, and GPUs are not offered to
    pods. Default: operator for NVIDIA's GPUs, none for AMD's and for sizes without GPUs. A change replaces the pool,
    but for one between operator and image."""
    gpu_device_plugin: GpuDevicePlugin | None = None
    """Who runs the device plugin that offers NVIDIA's GPUs to pods. operator: the GPU Operator. image: a service of the
    node image that has the driver too. Default: as gpuDriver says."""
    gpu_direct: Literal[GpuDirect, "auto"] | None = None
    """How HCAs reach the memory of GPUs (GPUDirect RDMA). dmabuf: through the kernel, so the GPU driver does not wait
    for OFED. nvidia-peermem: through a module that the GPU driver builds against OFED. auto: nvidia-peermem for V100,
    which has no DMA-BUF, and dmabuf for every other GPU; new clusters should choose it. Default: nvidia-peermem with
    doca-ofed, dmabuf with inbox. A change restarts the GPU driver, node by node."""
    ipoib_devices: tuple[Annotated[str, rules.interface_name], ...] = ()
    """Parent interfaces of the IPoIB networks, one for each rail. Default: the catalogue's first for the size."""
    nccl_topology: Text | None = None
    """Path of an NCCL topology file, relative to the project. Default: generated from the catalogue."""
    node_selector: Labels = Field(default_factory=dict)
    """In an existing cluster: labels that the pool's nodes, and no others, carry."""
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
    """Of the links."""
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
    """Of its processors."""
    placement_feature: bool = Field(default=True, strict=True)
    """Whether AKSInfinibandSupport must be registered (true) or must not be (false)."""
