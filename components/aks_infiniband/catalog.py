"""The machine sizes: what is plugged into each, and what Azure asks before it hands one out.

One table, read by the components, by the rehearsal's simulated machines and by the tests. CPU, memory, accelerators
and InfiniBand are those of Azure's size pages ("Sizes for virtual machines", HPC and GPU families) and of the AKS
InfiniBand guide (Azure/aks-rdma-infiniband); PCI device IDs are those of the PCI ID Repository for the virtual
functions that Azure passes into the machine.
"""

from dataclasses import dataclass
from typing import Final, Literal

Architecture = Literal["amd64", "arm64"]
LinkGeneration = Literal["EDR", "HDR", "NDR"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Accelerator:
    """The GPUs of one machine."""

    vendor: Literal["nvidia", "amd"]
    model: str
    count: int
    memory_gb: int
    """Memory of one GPU, in GB as its vendor states it."""

    @property
    def resource_name(self) -> str:
        """The extended resource under which the vendor's device plugin offers a GPU."""
        return f"{self.vendor}.com/gpu"


@dataclass(frozen=True, kw_only=True, slots=True)
class Infiniband:
    """The InfiniBand adapters (HCAs) of one machine; every HCA has one port."""

    hca_count: int
    generation: LinkGeneration
    rate_gbps: int
    """Signalling rate of one port in Gb/s: EDR 100, HDR 200, NDR 400."""
    adapter: str
    vf_device_id: str
    """PCI device ID (vendor 15b3) of the virtual function inside the machine."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineSize:
    """One InfiniBand-capable Azure VM size."""

    name: str
    series: str
    """The family whose vCPU quota the size counts against."""
    vcpus: int
    memory_gib: int
    infiniband: Infiniband
    accelerator: Accelerator | None = None
    architecture: Architecture = "amd64"
    placement_feature: bool = True
    """Whether the feature AKSInfinibandSupport must be Registered (True) or must not be (False: GB200, GB300)."""


_MELLANOX_VF: Final = {"ConnectX-5": "1018", "ConnectX-6": "101c", "ConnectX-7": "101e", "ConnectX-8": "101e"}
_RATE_GBPS: Final[dict[LinkGeneration, int]] = {"EDR": 100, "HDR": 200, "NDR": 400}


def _infiniband(hca_count: int, generation: LinkGeneration, adapter: str) -> Infiniband:
    return Infiniband(
        hca_count=hca_count,
        generation=generation,
        rate_gbps=_RATE_GBPS[generation],
        adapter=adapter,
        vf_device_id=_MELLANOX_VF[adapter],
    )


def _nvidia(count: int, model: str, memory_gb: int) -> Accelerator:
    return Accelerator(vendor="nvidia", model=model, count=count, memory_gb=memory_gb)


def _cpu_sizes(
    prefix: str, suffix: str, cores: tuple[int, ...], memory_gib: int, series: str, infiniband: Infiniband
) -> list[MachineSize]:
    """A CPU size and its constrained-core variants, which keep the memory and the HCA of the full size."""
    full = cores[0]
    return [
        MachineSize(
            name=f"{prefix}{full}{'' if count == full else f'-{count}'}{suffix}",
            series=series,
            vcpus=count,
            memory_gib=memory_gib,
            infiniband=infiniband,
        )
        for count in cores
    ]


_SIZES: Final[tuple[MachineSize, ...]] = (
    *_cpu_sizes("Standard_HC", "rs", (44,), 352, "HC", _infiniband(1, "EDR", "ConnectX-5")),
    *_cpu_sizes("Standard_HB", "rs_v2", (120,), 456, "HBv2", _infiniband(1, "HDR", "ConnectX-6")),
    *_cpu_sizes("Standard_HB", "rs_v3", (120, 96, 64, 32, 16), 448, "HBv3", _infiniband(1, "HDR", "ConnectX-6")),
    *_cpu_sizes("Standard_HB", "rs_v4", (176, 144, 96, 48, 24), 768, "HBv4", _infiniband(1, "NDR", "ConnectX-7")),
    *_cpu_sizes("Standard_HX", "rs", (176, 144, 96, 48, 24), 1408, "HX", _infiniband(1, "NDR", "ConnectX-7")),
    MachineSize(
        name="Standard_ND40rs_v2",
        series="NDv2",
        vcpus=40,
        memory_gib=672,
        infiniband=_infiniband(1, "EDR", "ConnectX-5"),
        accelerator=_nvidia(8, "V100", 32),
    ),
    MachineSize(
        name="Standard_ND96asr_v4",
        series="NDasrA100_v4",
        vcpus=96,
        memory_gib=900,
        infiniband=_infiniband(8, "HDR", "ConnectX-6"),
        accelerator=_nvidia(8, "A100", 40),
    ),
    MachineSize(
        name="Standard_ND96amsr_A100_v4",
        series="NDm_A100_v4",
        vcpus=96,
        memory_gib=1900,
        infiniband=_infiniband(8, "HDR", "ConnectX-6"),
        accelerator=_nvidia(8, "A100", 80),
    ),
    MachineSize(
        name="Standard_ND96isr_H100_v5",
        series="ND_H100_v5",
        vcpus=96,
        memory_gib=1900,
        infiniband=_infiniband(8, "NDR", "ConnectX-7"),
        accelerator=_nvidia(8, "H100", 80),
    ),
    MachineSize(
        name="Standard_ND96isr_H200_v5",
        series="ND_H200_v5",
        vcpus=96,
        memory_gib=1850,
        infiniband=_infiniband(8, "NDR", "ConnectX-7"),
        accelerator=_nvidia(8, "H200", 141),
    ),
    MachineSize(
        name="Standard_ND96isr_MI300X_v5",
        series="ND_MI300X_v5",
        vcpus=96,
        memory_gib=1850,
        infiniband=_infiniband(8, "NDR", "ConnectX-7"),
        accelerator=Accelerator(vendor="amd", model="MI300X", count=8, memory_gb=192),
    ),
    MachineSize(
        name="Standard_ND128isr_NDR_GB200_v6",
        series="ND_GB200_v6",
        vcpus=128,
        memory_gib=900,
        infiniband=_infiniband(4, "NDR", "ConnectX-7"),
        accelerator=_nvidia(4, "GB200", 192),
        architecture="arm64",
        placement_feature=False,
    ),
    MachineSize(
        name="Standard_ND128isr_GB300_v6",
        series="ND_GB300_v6",
        vcpus=128,
        memory_gib=900,
        infiniband=_infiniband(4, "NDR", "ConnectX-8"),
        accelerator=_nvidia(4, "GB300", 288),
        architecture="arm64",
        placement_feature=False,
    ),
)

SIZES: Final[dict[str, MachineSize]] = {size.name: size for size in _SIZES}
"""Every InfiniBand-capable size by its Azure name."""
