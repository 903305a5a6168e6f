"""A process' view of its simulated machine, as NCCL would read it."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from rehearsal.faults import machine_faults
from rehearsal.machines.gpu_libraries import nvidia_smi
from rehearsal.machines.hardware.gpu_models import GpuModel, gpu_uuid, model_of
from rehearsal.machines.rdma_tools import wire
from rehearsal.machines.rdma_tools.machine import Machine, Port

__all__ = [
    "Gpu",
    "Machine",
    "address",
    "congestion",
    "dma_buf",
    "gpu_fault",
    "gpus",
    "hcas",
    "is_rocm",
    "node",
    "nvlink",
    "peermem",
    "wire",
]

_NVIDIA: Final = ("0x10de", "nvidia*", r"nvidia(\d+)", 0)
_AMD: Final = ("0x1002", "dri/renderD*", r"renderD(\d+)", 128)
"""A vendor's number on the PCI bus, its device nodes below /dev, their names, and the first one's number."""


def node() -> str:
    """Name of the machine."""
    return os.environ["REHEARSAL_NODE"]


def address() -> str:
    """Address of the pod."""
    return os.environ["REHEARSAL_POD_IP"]


class Gpu(NamedTuple):
    """A GPU of the machine."""

    address: str
    model: GpuModel
    machine: str
    device_id: str
    """Its kind's number on the PCI bus."""

    @property
    def uuid(self) -> str:
        """As the driver reports it."""
        return gpu_uuid(self.machine, self.address)


def gpus() -> list[Gpu]:
    """The GPUs that this container holds. The driver numbers a machine's in the order of their PCI addresses."""
    _, nodes, name, first = _AMD if is_rocm() else _NVIDIA
    numbers = (re.fullmatch(name, path.name) for path in Path(Machine().container, "dev").glob(nodes))
    held = sorted(int(number[1]) - first for number in numbers if number)
    there = gpus_of_machine()
    return [there[number] for number in held if number < len(there)]


def gpus_of_machine() -> list[Gpu]:
    """All that are on the machine's PCI bus, in the driver's order: what a privileged container sees."""
    vendor, *_ = _AMD if is_rocm() else _NVIDIA
    machine = Machine()
    devices = sorted(
        path for path in Path(machine.sys, "bus/pci/devices").glob("*") if _read(path / "vendor") == vendor
    )
    kinds = ((path.name, _read(path / "device").removeprefix("0x")) for path in devices)
    return [Gpu(name, model_of(kind), machine.node, kind) for name, kind in kinds]


def is_rocm() -> bool:
    """True if the image has AMD's libraries."""
    return os.environ.get("REHEARSAL_GPU_LIBRARIES") == "rocm"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip()


def gpu_fault(name: str, index: int) -> dict[str, Any] | None:
    """The fault of a name that a GPU has."""
    machine = Machine()
    entries = [entry for entry in machine_faults.read(machine.run) if entry.get("gpu") == index]
    return machine_faults.concerning(entries, name, machine.node)


def hcas() -> list[dict[str, Any]]:
    """The devices that NCCL would use: Active, with a file in this container, and not excluded by NCCL_IB_HCA."""
    machine = Machine()
    if os.environ.get("NCCL_IB_DISABLE", "0") == "1" or machine.fault("no-libibverbs"):
        return []
    ports = [port for port in machine.verbs() if port.state == "ACTIVE" and selected(port.device, os.environ)]
    return [_hca(machine, port) for port in ports]


def congestion() -> float:
    """The share of its bandwidth that a machine has now and then; 1 if nothing is in its way."""
    fault = machine_faults.concerning(machine_faults.read(Machine().run), "congestion", node())
    return float(fault["factor"]) if fault else 1.0


def nvlink() -> dict[str, Any] | None:
    """The NVLink fabric that reaches beyond the machine, as NCCL reads it; None if there is none, or if NCCL may not
    use it. channel: True if the container has an IMEX channel, without which no memory goes to another machine.
    """
    known = nvidia_smi.fabric()
    if known is None or known[0] != "Completed" or os.environ.get("NCCL_MNNVL_ENABLE") == "0":
        return None
    channel = Path(Machine().container, "dev/nvidia-caps-imex-channels/channel0")
    return {"cluster": known[1], "clique": known[2], "channel": channel.exists()}


def dma_buf() -> bool:
    """True if the GPU driver hands out memory by DMA-BUF; every kernel of AKS's node images has HCAs take it."""
    if is_rocm():  # RCCL's own switch, off until ROCm 7.12
        return os.environ.get("NCCL_DMABUF_ENABLE") == "1"
    taint = Path(Machine().sys, "module/nvidia/taint")
    return taint.exists() and "P" not in taint.read_text()


def peermem() -> bool:
    """True if nvidia-peermem is loaded: NCCL looks for this file (NCCL, src/transport/net_ib, ncclIbGdrSupport)."""
    return Path(Machine().sys, "module/nvidia_peermem/version").exists()


def selected(name: str, environment: Mapping[str, str]) -> bool:
    """NCCL_IB_HCA: prefixes, `=` for whole names, `^` to exclude (NCCL, "Environment Variables")."""
    text = environment.get("NCCL_IB_HCA", "")
    exclude, exact = text.startswith("^"), "=" in text[:2]
    wanted = [word.partition(":")[0] for word in text.lstrip("^=").split(",") if word]
    if not wanted:
        return True
    return any(name == word if exact else name.startswith(word) for word in wanted) != exclude


def _hca(machine: Machine, port: Port) -> dict[str, Any]:
    slow = machine.fault("slow", port.device)
    return {
        "name": port.device,
        "link": "IB" if port.infiniband else "RoCE",
        "gb_per_s": port.rate_gbps / 8 * (slow["factor"] if slow else 1),
        "partition": f"nowhere, {machine.node}" if machine.fault("packets-lost", port.device) else port.partition,
    }
