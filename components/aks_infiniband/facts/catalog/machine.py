"""A machine size: its adapters and GPUs, their places, and Azure's requirements for it."""

import re
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

Architecture = Literal["amd64", "arm64"]
LinkGeneration = Literal["EDR", "HDR", "NDR", "XDR"]
Mode = Literal["rdma-shared", "sriov", "ipoib", "dra", "driver-only"]
"""The ways to hand InfiniBand to a pod: those of the AKS InfiniBand guide, and by ResourceClaims (`facts.dranet`)."""
NicDriver = Literal["doca-ofed", "inbox"]
"""Owner of the mlx5 driver of a node: NVIDIA's DOCA-OFED in a container, or the node image with the driver that it
brings.
"""
GpuDriver = Literal["operator", "aks", "image", "none"]
"""Owner of the GPUs' driver on a node: the GPUs' operator, AKS, the maker of its image, or none that is known."""
GpuDevicePlugin = Literal["operator", "image"]
"""Owner of the device plugin that offers GPUs to pods: the GPU Operator, or a service of the node image."""
OsSku = Literal["Ubuntu", "Ubuntu2204", "AzureLinux", "AzureLinux3"]
"""OS SKUs for which NVIDIA's drivers are built (field reports, A9; Azure Linux: Network Operator 26.1,
Mellanox/network-operator-docs 0c0ecad, release-notes.rst, 2026-05-21) and that AKS's API 2025-09-01 has, which
azure-native sends (Azure/bicep-types-az 1f896de, 2026-08-20). Ubuntu2404 is absent and not needed: from Kubernetes 1.35
on Ubuntu is 24.04.
"""
GpuDirect = Literal["dmabuf", "nvidia-peermem", "auto"]
"""The way from HCAs to the memory of GPUs: DMA-BUF of the kernel, or the GPU driver's module, which is built against
OFED; or the one that the GPU allows.
"""
GpuSoftware = Literal["gpu-operator", "rocm"]
"""The software that makes a GPU usable: NVIDIA's GPU Operator, or AMD's ROCm GPU operator."""
SlotSource = Literal["published", "observed", "assumed"]
"""Source of PCI addresses. published: from Azure's own NCCL topology file; observed: from a real machine; assumed: they
are not published, so they are counted up from the first address of other sizes.
"""

GPU_OPERATOR_OFF: Final = "nvidia.com/gpu.deploy.operands"
"""Node label that, false, keeps every DaemonSet of the GPU Operator off a node (NVIDIA, GPU Operator, "Preventing
Installation of Operands on Some Nodes")."""
INFINIBAND_CLASS: Final = "0207"
"""PCI class and subclass of an HCA, physical or virtual; of an Ethernet function they are 0200 (PCI ID Repository)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Accelerator:
    """The GPUs of one machine."""

    vendor: Literal["nvidia", "amd"]
    """Their maker."""
    model: str
    """Such as H100."""
    count: int
    """GPUs of one machine."""
    memory_gb: int
    """Memory of one GPU, in GB as its vendor states it."""
    software: GpuSoftware
    """The software that makes them usable in Kubernetes."""

    @property
    def dma_buf(self) -> bool:
        """True if NVIDIA's open kernel modules drive it, which DMA-BUF needs: from Turing on (records/facts.yaml)."""
        return self.model != "V100"

    @property
    def resource_name(self) -> str:
        """The extended resource under which the vendor's device plugin offers a GPU."""
        return f"{self.vendor}.com/gpu"


@dataclass(frozen=True, kw_only=True, slots=True)
class Infiniband:
    """The InfiniBand adapters (HCAs) of one machine; every HCA has one port."""

    hca_count: int
    """HCAs of one machine."""
    generation: LinkGeneration
    """Generation of the links."""
    rate_gbps: int
    """Signalling rate of one port in Gb/s."""
    adapter: str
    """Model of the HCAs."""
    vf_device_id: str
    """PCI device ID (vendor 15b3) of the virtual function inside the machine."""
    service_level: int = 0
    """Service level that traffic must request: 1 on the fabric of GB200 and GB300 (Azure/ai-infrastructure-on-azure
    a01b073, examples/inferenceX/aks and skills/slurm/nccl_allreduce_test).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class PciSlot:
    """The place of one PCI function. Azure gives each a separate PCI domain."""

    domain: int
    """PCI domain."""
    numa_node: int
    """NUMA node of the machine to which the function is attached."""
    bus: int = 0
    """PCI bus within the domain."""
    switch: int | None = None
    """The PCI switch, from 1, that it shares with its neighbours in Azure's NCCL topology file; None: no switch."""

    @property
    def address(self) -> str:
        """As the kernel writes it, such as 0101:00:00.0."""
        return f"{self.domain:04x}:{self.bus:02x}:00.0"

    @property
    def interface(self) -> str:
        """The InfiniBand network interface of an HCA here, such as ibP257p0s0.

        That is its alternative name, by which ip and CNI plugins find it; its first one has a slot number that differs
        between machines (converged-computing/flux-usernetes, Azure notes, 2025-03-19: ibP257s71127).
        """
        return f"ibP{self.domain}p{self.bus}s0"


@dataclass(frozen=True, kw_only=True, slots=True)
class Processor:
    """The processors of one machine, as an NCCL topology file names them."""

    vendor: Literal["GenuineIntel", "AuthenticAMD"]
    """As CPUID reports it."""
    family: int
    """As CPUID reports it."""
    model: int
    """As CPUID reports it."""
    numa_nodes: int
    """Each has an equal, contiguous share of the machine's vCPUs."""
    link_speed: str
    """Speed of every PCI function, as the kernel words it; all are 16 lanes wide."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Slots:
    """The PCI facts of one size."""

    hcas: tuple[PciSlot, ...]
    """One for each HCA, in device order."""
    gpus: tuple[PciSlot, ...] = ()
    """One for each GPU, in device order."""
    source: SlotSource
    """The source of the addresses."""
    processor: Processor | None = None
    """None if Azure publishes no NCCL topology file."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineSize:
    """One InfiniBand-capable Azure VM size."""

    name: str
    """As Azure writes it."""
    series: str
    """The family whose vCPU quota the size counts against."""
    vcpus: int
    """Virtual CPUs."""
    quota_vcpus: int
    """Virtual CPUs that one machine counts against the family's quota: of constrained sizes those of the full one."""
    memory_gib: int
    """Memory of the machine, in GiB."""
    infiniband: Infiniband
    """Its InfiniBand adapters."""
    accelerator: Accelerator | None = None
    """Its GPUs; None for a CPU size."""
    architecture: Architecture = "amd64"
    """Architecture of its processors."""
    placement_feature: bool = True
    """True if the feature AKSInfinibandSupport must be Registered; False if it must not be (GB200, GB300)."""
    nvlink_domain: int = 1
    """Machines of one rack whose GPUs reach each other by NVLink, 18 of GB200 and GB300; 1 if NVLink ends at the
    machine (Azure/ai-infrastructure-on-azure a01b073, skills/slurm/rack_topology).
    """
    retires: date | None = None
    """The day on which Azure takes the size away; None if it has not said so."""
    slots: Slots
    """Its PCI facts."""

    @property
    def default_gpu_driver(self) -> GpuDriver:
        """Owner of the GPUs' driver if nothing else is said: the operator if it makes such GPUs usable. On GB200 and
        GB300 too, as in the one setup on AKS that is published (Azure/ai-infrastructure-on-azure a01b073, 2026-04-22,
        infrastructure_references/aks); their node image may have one all the same (`facts.node_images`).
        """
        return "operator" if self.accelerator and self.accelerator.software == "gpu-operator" else "none"

    @property
    def gpu_driver_owners(self) -> tuple[GpuDriver, ...]:
        """Possible owners of the GPUs' driver. AKS has none for AMD's GPUs, and refuses a pool of them that requests
        its driver (MicrosoftDocs/azure-aks-docs fb060ab, use-amd-gpus.md, 2026-08-21). For GB200 and GB300 it has one
        since 2026 (Azure/aks-gpu pull request 170), which was not tried here: the published setup installs none
        (`--gpu-driver None`, Azure/ai-infrastructure-on-azure a01b073, infrastructure_references).
        """
        if self.accelerator is None:
            return ("none",)
        by_image = self.accelerator.vendor == "amd" or self.nvlink_domain > 1
        return ("operator", "image" if by_image else "aks", "none")

    def device_plugin_of(self, owner: GpuDriver) -> GpuDevicePlugin:
        """Owner of NVIDIA's device plugin if nothing else is said. owner: of the GPUs' driver."""
        return "image" if owner == "image" and self.nvlink_domain > 1 else "operator"

    @property
    def default_nic_driver(self) -> NicDriver:
        """Owner of the mlx5 driver if nothing else is said: on GB200 and GB300 the node image, which is right whether
        its driver is DOCA-OFED or the kernel's (`facts.node_images`).
        """
        return "inbox" if self.nvlink_domain > 1 else "doca-ofed"

    @property
    def ipoib_devices(self) -> tuple[str, ...]:
        """The interfaces that can carry IPoIB networks, one for each HCA; empty if their names are unknown."""
        return () if self.slots.source == "assumed" else tuple(slot.interface for slot in self.slots.hcas)


def keeps_gpu_operator_off(owner: GpuDriver, size: MachineSize | None, vm_size: str) -> bool:
    """True if the pool's nodes have GPUs of NVIDIA that the GPU Operator must not touch.

    size: None without InfiniBand. Azure's sizes with GPUs are the N family; those with GPUs of AMD say so in their name
    ("Azure virtual machine sizes naming conventions").
    """
    if owner != "none":
        return False
    if size is not None:
        return size.accelerator is not None and size.accelerator.vendor == "nvidia"
    return re.match(r"Standard_N", vm_size) is not None and not re.search(r"MI\d|_V710|NV\d+as_v4", vm_size)
