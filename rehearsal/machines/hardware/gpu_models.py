"""The kinds of GPUs of simulated machines: their numbers on the PCI bus, and their best figures.

The figures of an H100 were measured (two H100 of one host, driver 580.159.04, 2026-11-25, docs/measurements.md): rate
of bf16 products at its limit of power, clocks, copies. For the others limits of power, NVLinks and PCIe generations are
those of NVIDIA's data sheets, and the rest is assumed: 70 % of the data sheet's rate, and copies as the H100 has them
of its links' rate. PCI device IDs are from the PCI ID Repository.
"""

from typing import Final, NamedTuple


class GpuModel(NamedTuple):
    """One kind. The SM clock under load is that at the limit of power."""

    name: str
    """NVML's."""
    capability: int
    """The first number of CUDA's compute capability."""
    tflops: float
    watts: float
    generation: int
    """Generation of its PCIe link, which has 16 lanes."""
    nvlinks: int
    host_gb_per_s: float
    peer_gb_per_s: float
    loaded_sm_clock: int = 1365
    most_sm_clock: int = 1980
    memory_clock: int = 2619
    """These three in MHz."""


LANES: Final = 16
DEVICE_IDS: Final = {
    "V100": "1db5",
    "A100-40": "20b0",
    "A100-80": "20b2",
    "H100": "2330",
    "H200": "2335",
    "GB200": "2941",
    "GB300": "31c2",
    "MI300X": "74b5",
}
"""By the catalogue's name of the model, with the memory of those that have two sizes of it."""
_MODELS: Final = {
    "V100": GpuModel("Tesla V100-SXM2-32GB", 7, 87, 300, 3, 6, 12.5, 65),
    "A100-40": GpuModel("NVIDIA A100-SXM4-40GB", 8, 218, 400, 4, 12, 26, 260),
    "A100-80": GpuModel("NVIDIA A100-SXM4-80GB", 8, 218, 400, 4, 12, 26, 260),
    "H100": GpuModel("NVIDIA H100 80GB HBM3", 9, 683, 700, 5, 18, 55.1, 390.4),
    "H200": GpuModel("NVIDIA H200", 9, 683, 700, 5, 18, 55.1, 390.4),
    "GB200": GpuModel("NVIDIA GB200", 10, 1750, 1200, 5, 18, 55.1, 780),
    "GB300": GpuModel("NVIDIA GB300", 10, 1750, 1400, 5, 18, 55.1, 780),
}


def model_of(device_id: str) -> GpuModel:
    """The kind of a PCI device ID; one that is not known is as an H100."""
    names = {number: name for name, number in DEVICE_IDS.items()}
    return _MODELS.get(names.get(device_id, ""), _MODELS["H100"])


def board_serial(uuid: str) -> str:
    """The serial number of the board of a GPU, by its UUID: thirteen digits."""
    return f"{int(uuid[4:12], 16):013d}"


def gpu_uuid(machine: str, address: str) -> str:
    """The UUID of the GPU at a PCI address of a machine."""
    import uuid  # noqa: PLC0415 it takes long to import, and few programs ask

    return f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{machine}.{address}')}"
