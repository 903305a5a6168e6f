"""The machine sizes: what is plugged into each, and what Azure requires for it.

One table, read by the components, by the rehearsal's simulated machines and by the tests. CPU, memory, accelerators
and InfiniBand are those of Azure's size pages ("Sizes for virtual machines", HPC and GPU families) and of the AKS
InfiniBand guide (Azure/aks-rdma-infiniband); of constrained sizes and HBv5 those that Azure Resource Manager lists
(microsoft/aspire 5bd693a, AksNodeVmSizes.cs). PCI device IDs are those of the PCI ID Repository for the virtual
functions that Azure passes into the machine; PCI addresses are those of `slots`.
"""

from typing import Any, Final

from aks_infiniband.facts.catalog.machine import Accelerator, Infiniband, MachineSize, Slots
from aks_infiniband.facts.catalog.slots import (
    GRACE_BLACKWELL,
    MI300X,
    NDV2,
    NDV4,
    NDV5,
    ONE_HCA,
    UNKNOWN,
    UNKNOWN_FOUR,
)


def _nvidia(count: int, model: str, memory_gb: int) -> Accelerator:
    return Accelerator(vendor="nvidia", model=model, count=count, memory_gb=memory_gb, software="gpu-operator")


def _size(
    name: str,
    series: str,
    cpu: tuple[int, int],
    infiniband: Infiniband,
    slots: Slots,
    accelerator: Accelerator | None = None,
    **more: Any,
) -> MachineSize:
    """cpu: vCPUs, all of which count against the quota where `more` does not say otherwise, and GiB of memory."""
    return MachineSize(
        **{"quota_vcpus": cpu[0], **more},
        name=name,
        series=series,
        vcpus=cpu[0],
        memory_gib=cpu[1],
        infiniband=infiniband,
        accelerator=accelerator,
        slots=slots,
    )


def _grace_blackwell(name: str, series: str, adapter: str, model: str, memory_gb: int) -> MachineSize:
    gpus = Accelerator(vendor="nvidia", model=model, count=4, memory_gb=memory_gb, software="dra")
    infiniband = Infiniband.of(4, "NDR", adapter, service_level=1)
    arm = {"architecture": "arm64", "placement_feature": False, "image_has_ofed": True}
    return _size(name, series, (128, 864), infiniband, GRACE_BLACKWELL, gpus, **arm)


def _cpu_sizes(
    names: tuple[str, str],
    cores: tuple[int, ...],
    memory_gib: int,
    series: str,
    infiniband: Infiniband,
    slots: Slots = ONE_HCA,
) -> list[MachineSize]:
    """A CPU size and its constrained-core variants, which keep memory, HCAs and use of quota of the full size.

    names: what stands before and behind the number of cores.
    """
    full = cores[0]
    written = {count: f"{names[0]}{full}{'' if count == full else f'-{count}'}{names[1]}" for count in cores}
    return [
        _size(name, series, (count, memory_gib), infiniband, slots, quota_vcpus=full) for count, name in written.items()
    ]


_EDR: Final = Infiniband.of(1, "EDR", "ConnectX-5")
_HDR: Final = Infiniband.of(1, "HDR", "ConnectX-6")
_NDR: Final = Infiniband.of(1, "NDR", "ConnectX-7")
_FOUR_NDR200: Final = Infiniband.of(4, "NDR", "ConnectX-7", rate_gbps=200)
"""Assumed: 800 Gb/s in all, as four adapters, one for each of its processors. No size page was read."""
_HBV5_CORES: Final = (368, 336, 288, 240, 192, 144, 96, 48)
_EIGHT_HDR: Final = Infiniband.of(8, "HDR", "ConnectX-6")
_EIGHT_NDR: Final = Infiniband.of(8, "NDR", "ConnectX-7")
_EIGHT_MI300X: Final = Accelerator(vendor="amd", model="MI300X", count=8, memory_gb=192, software="rocm")

_SIZES: Final[tuple[MachineSize, ...]] = (
    *_cpu_sizes(("Standard_HC", "rs"), (44, 32, 16), 352, "HC", _EDR, UNKNOWN),
    *_cpu_sizes(("Standard_HB", "rs_v2"), (120, 96, 64, 32, 16), 456, "HBv2", _HDR, UNKNOWN),
    *_cpu_sizes(("Standard_HB", "rs_v3"), (120, 96, 64, 32, 16), 448, "HBv3", _HDR),
    *_cpu_sizes(("Standard_HB", "rs_v4"), (176, 144, 96, 48, 24), 768, "HBv4", _NDR),
    *_cpu_sizes(("Standard_HB", "rs_v5"), _HBV5_CORES, 448, "HBv5", _FOUR_NDR200, UNKNOWN_FOUR),
    *_cpu_sizes(("Standard_HX", "rs"), (176, 144, 96, 48, 24), 1408, "HX", _NDR),
    _size("Standard_ND40rs_v2", "NDv2", (40, 672), _EDR, NDV2, _nvidia(8, "V100", 32)),
    _size("Standard_ND96asr_v4", "NDasrA100_v4", (96, 900), _EIGHT_HDR, NDV4, _nvidia(8, "A100", 40)),
    _size("Standard_ND96amsr_A100_v4", "NDm_A100_v4", (96, 1900), _EIGHT_HDR, NDV4, _nvidia(8, "A100", 80)),
    _size("Standard_ND96isr_H100_v5", "ND_H100_v5", (96, 1900), _EIGHT_NDR, NDV5, _nvidia(8, "H100", 80)),
    _size("Standard_ND96isr_H200_v5", "ND_H200_v5", (96, 1850), _EIGHT_NDR, NDV5, _nvidia(8, "H200", 141)),
    _size("Standard_ND96isrf_H200_v5", "ND_H200_v5", (96, 1850), _EIGHT_NDR, NDV5, _nvidia(8, "H200", 141)),
    _size("Standard_ND96isr_MI300X_v5", "ND_MI300X_v5", (96, 1850), _EIGHT_NDR, MI300X, _EIGHT_MI300X),
    _grace_blackwell("Standard_ND128isr_NDR_GB200_v6", "ND_GB200_v6", "ConnectX-7", "GB200", 192),
    _grace_blackwell("Standard_ND128isr_GB300_v6", "ND_GB300_v6", "ConnectX-8", "GB300", 288),
)

SIZES: Final[dict[str, MachineSize]] = {size.name: size for size in _SIZES}
"""Every InfiniBand-capable size by its Azure name."""
