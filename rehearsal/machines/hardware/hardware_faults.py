"""Applies the faults of the run to a machine's hardware: parts get other names, are missing, slower or disconnected."""

import hashlib
import uuid
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from rehearsal.faults import machine_faults
from rehearsal.machines.hardware.model import Hardware, RdmaDevice
from rehearsal.machines.hardware.nvlink import NvlinkFabric

__all__ = ["faulty"]


def faulty(hardware: Hardware, node: str, run_folder: Path) -> Hardware:
    """The hardware of a machine with the faults that the run's file gives it. Raises FaultsError.

    A device is named in the file as it would be named if none were missing: those behind it then close up, GPUs too.
    """
    entries = machine_faults.read(run_folder)
    if not entries:
        return hardware
    missing = {entry.get("gpu") for entry in entries if machine_faults.concerning([entry], "missing-gpu", node)}
    there = [gpu for gpu in hardware.gpus if gpu.index not in missing]
    closed = machine_faults.concerning(entries, "closed-kernel-modules", node) is not None
    persistent = machine_faults.concerning(entries, "hpc-image-names", node) is not None
    order = _order(hardware, machine_faults.concerning(entries, "ethernet", node))
    devices = (_device(device, node, entries) for device in _named(order, persistent=persistent))
    return replace(
        hardware,
        rdma_devices=tuple(_named([device for device in devices if device is not None], persistent=persistent)),
        gpus=tuple(replace(gpu, index=index) for index, gpu in enumerate(there)),
        open_modules=hardware.open_modules and not closed,
        nvlink=hardware.nvlink and _nvlink(hardware.nvlink, node, entries),
    )


def _nvlink(fabric: NvlinkFabric, node: str, entries: list[dict[str, Any]]) -> NvlinkFabric:
    if machine_faults.concerning(entries, "other-clique", node):
        return replace(fabric, cluster_uuid=str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{fabric.cluster_uuid}.elsewhere")))
    return replace(fabric, state="In Progress") if machine_faults.concerning(entries, "no-nvlink", node) else fabric


def _order(hardware: Hardware, elsewhere: dict[str, Any] | None) -> list[RdmaDevice]:
    """The devices in the kernel's order: the Ethernet one stands last, or at the place that a fault gives it."""
    if elsewhere is None:
        return list(hardware.rdma_devices)
    ethernet = [device for device in hardware.rdma_devices if device.link_layer == "Ethernet"]
    place: int = elsewhere["place"]
    return [*hardware.hcas[:place], *ethernet, *hardware.hcas[place:]]


def _named(order: list[RdmaDevice], *, persistent: bool) -> list[RdmaDevice]:
    """The devices with the kernel's numbers and names, or the persistent names of Azure's HPC images."""
    numbers = {"InfiniBand": count(), "Ethernet": count()}
    stems = {"InfiniBand": "mlx5_ib", "Ethernet": "mlx5_an"}
    return [
        replace(
            device,
            index=index,
            name=f"{stems[device.link_layer]}{next(numbers[device.link_layer])}" if persistent else f"mlx5_{index}",
        )
        for index, device in enumerate(order)
    ]


def _device(device: RdmaDevice, node: str, entries: list[dict[str, object]]) -> RdmaDevice | None:
    """A device with its faults; None if it is missing. The Ethernet one has none."""
    if device.link_layer != "InfiniBand":
        return device

    def has(name: str) -> bool:
        return machine_faults.concerning(entries, name, node, device.name) is not None

    if other := machine_faults.concerning(entries, "other-rate", node, device.name):
        device = replace(device, rate_gbps=other["rateGbps"])

    if has("missing"):
        return None
    if has("link-down"):
        device = replace(device, link_up=False)
    if has("half-rate"):
        lanes = f"2X {device.rate_suffix.partition(' ')[2]}"
        device = replace(device, rate_gbps=device.rate_gbps // 2, rate_suffix=lanes)
    if has("partition"):
        own = 0x8000 | (1 + int(hashlib.sha256(f"{node}/{device.name}".encode()).hexdigest()[:3], 16))
        device = replace(device, pkeys=(own, *device.pkeys[1:]))
    return device
