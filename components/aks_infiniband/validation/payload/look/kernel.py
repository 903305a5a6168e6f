"""The facts that one pod can see of its node, as plain data: read, never judged.

InfiniBand devices come from sysfs (Linux, Documentation/ABI/stable/sysfs-class-infiniband): names differ between images
and nodes, and the Ethernet function of accelerated networking is an mlx5 device too, so only their link layer
distinguishes devices.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, TypedDict

_CAP_IPC_LOCK = 14
"""Bit of CAP_IPC_LOCK in a capability mask (Linux, include/uapi/linux/capability.h)."""

_ARPHRD_INFINIBAND = "32"
"""Type of an IPoIB interface (Linux, include/uapi/linux/if_arp.h)."""


class Hca(TypedDict):
    """One InfiniBand port; None for what the kernel does not say."""

    device: str
    pci_address: str | None
    firmware: str | None
    state: str | None
    physical_state: str | None
    rate_gbps: float | None
    partition_keys: list[str]


class Interface(TypedDict):
    """One network interface of a pod, and the addresses that Multus has noted of it."""

    infiniband: bool
    addresses: list[str]


class NodeFacts(TypedDict):
    """The kernel's facts on one node."""

    hcas: list[Hca]
    ethernet_devices: list[str]
    uverbs: list[str]
    uverbs_of: dict[str, str]
    accelerator_devices: list[str]
    memlock_bytes: int | None
    ipc_lock: bool
    shm_bytes: int | None
    environment: dict[str, str]
    interfaces: dict[str, Interface]
    kernel: str | None


class Roots(NamedTuple):
    """The paths of the kernel's file systems, and the file with Multus' notes on the pod (None without)."""

    sys: Path
    dev: Path
    proc: Path
    shm: Path
    attachments: Path | None = None


def read_node(roots: Roots, environment: Mapping[str, str], device_pattern: str | None) -> NodeFacts:
    """Everything that the judgement of one node needs. A fact that is absent is an empty list or None, never an error.

    ``device_pattern`` is a regular expression for the accelerators' files below ``roots.dev``; None without any.
    """
    hcas, ethernet = read_rdma_devices(roots.sys)
    return {
        "hcas": hcas,
        "ethernet_devices": ethernet,
        "uverbs": sorted(path.name for path in (roots.dev / "infiniband").glob("uverbs*")),
        "uverbs_of": read_uverbs_names(roots.sys),
        "accelerator_devices": _device_files(roots.dev, device_pattern),
        "memlock_bytes": read_memlock(roots.proc),
        "ipc_lock": _has_ipc_lock(roots.proc),
        "shm_bytes": _file_system_bytes(roots.shm),
        "environment": {name: value for name, value in sorted(environment.items()) if name.startswith("NCCL_")},
        "interfaces": read_interfaces(roots),
        "kernel": _text(roots.proc / "sys/kernel/osrelease"),
    }


def read_rdma_devices(sys_root: Path) -> tuple[list[Hca], list[str]]:
    """The InfiniBand ports with their state, and the names of the Ethernet devices next to them."""
    hcas: list[Hca] = []
    ethernet: list[str] = []
    for port in sorted(sys_root.glob("class/infiniband/*/ports/*"), key=_natural):
        folder = port.parent.parent
        device = folder.name
        if _text(port / "link_layer") != "InfiniBand":
            ethernet.append(device)
            continue
        hcas.append(
            {
                "device": device,
                "pci_address": _pci_address(folder),
                "firmware": _text(folder / "fw_ver"),
                "state": _after_colon(_text(port / "state")),
                "physical_state": _after_colon(_text(port / "phys_state")),
                "rate_gbps": _rate(_text(port / "rate")),
                "partition_keys": _partition_keys(port / "pkeys"),
            }
        )
    return hcas, ethernet


def _pci_address(device: Path) -> str | None:
    """Such as 0101:00:00.0 (Linux, drivers/pci/pci-driver.c, pci_uevent)."""
    match = re.search(r"^PCI_SLOT_NAME=(\S+)", _text(device / "device/uevent") or "", re.MULTILINE)
    return match and match.group(1)


def near_cpus(sys_root: Path, device: str) -> set[int]:
    """The CPUs of an HCA's NUMA node that this process may use; none if the kernel knows no node (-1)."""
    return cpus_beside(sys_root, f"class/infiniband/{device}/device")


def cpus_beside(sys_root: Path, device: str) -> set[int]:
    """The same of any device, by its folder below /sys."""
    node = _text(sys_root / device / "numa_node")
    spans = re.findall(r"(\d+)(?:-(\d+))?", _text(sys_root / f"devices/system/node/node{node}/cpulist") or "")
    cpus = {cpu for first, last in spans for cpu in range(int(first), int(last or first) + 1)}
    return cpus & os.sched_getaffinity(0)


def read_interfaces(roots: Roots) -> dict[str, Interface]:
    """The pod's network interfaces by name: whether each is InfiniBand's, and the addresses that Multus notes."""
    addresses = _attached_addresses(_text(roots.attachments) if roots.attachments else None)
    return {
        path.name: {
            "infiniband": _text(path / "type") == _ARPHRD_INFINIBAND,
            "addresses": addresses.get(path.name, []),
        }
        for path in sorted(roots.sys.glob("class/net/*"))
    }


def _attached_addresses(status: str | None) -> dict[str, list[str]]:
    """Addresses by interface, of the annotation k8s.v1.cni.cncf.io/network-status (Network Plumbing Working Group's
    specification of network attachments, version 1.2, section 4.1).
    """
    try:
        networks = json.loads(status or "[]")
    except ValueError:
        return {}
    entries = [network for network in networks or [] if isinstance(network, dict) and network.get("interface")]
    return {str(network["interface"]): list(network.get("ips") or []) for network in entries}


def read_versions(roots: Roots) -> dict[str, str]:
    """Versions of kernel, drivers and HCAs' firmware, without those that the kernel does not show."""
    firmware = sorted(
        {
            text
            for device in roots.sys.glob("class/infiniband/*")
            if _text(device / "ports/1/link_layer") == "InfiniBand" and (text := _text(device / "fw_ver"))
        }
    )
    versions = {
        "kernel": _text(roots.proc / "sys/kernel/osrelease"),
        "mlx5 driver": _text(roots.sys / "module/mlx5_core/version"),
        "NVIDIA driver": _text(roots.sys / "module/nvidia/version"),
        "AMD driver": _text(roots.sys / "module/amdgpu/version"),
        "HCA firmware": ", ".join(firmware) or None,
    }
    return {name: text for name, text in versions.items() if text}


def read_uverbs_names(sys_root: Path) -> dict[str, str]:
    """The character device that belongs to each RDMA device; empty if the kernel does not say."""
    pairs = ((_text(path / "ibdev"), path.name) for path in sys_root.glob("class/infiniband_verbs/uverbs*"))
    return {device: name for device, name in sorted(pairs, key=str) if device}


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def _natural(path: Path) -> list[str | int]:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(path))]


def _after_colon(text: str | None) -> str | None:
    """``ACTIVE`` of ``4: ACTIVE``."""
    return None if text is None else text.rpartition(":")[2].strip()


def _rate(text: str | None) -> float | None:
    """The number of ``400 Gb/sec (4X NDR)``, in Gb/s."""
    match = re.match(r"([\d.]+)\s*Gb/sec", text or "")
    return float(match.group(1)) if match else None


def _partition_keys(folder: Path) -> list[str]:
    """The keys in the port's table, as the kernel prints them, without empty slots (0x0000)."""
    slots = sorted((path for path in folder.glob("*")), key=_natural)
    texts = (_text(path) for path in slots)
    return [text for text in texts if text and int(text, 16) != 0]


def _device_files(dev: Path, pattern: str | None) -> list[str]:
    if pattern is None:
        return []
    names = (str(path.relative_to(dev)) for path in [*dev.glob("*"), *dev.glob("dri/*")])
    return sorted((name for name in names if re.fullmatch(pattern, name)), key=lambda name: _natural(Path(name)))


def read_memlock(proc: Path) -> int | None:
    """The soft limit on locked memory in bytes; -1 when unlimited, None when it cannot be read."""
    match = re.search(r"^Max locked memory\s+(\S+)", _text(proc / "self/limits") or "", re.MULTILINE)
    if match is None:
        return None
    return -1 if match.group(1) == "unlimited" else int(match.group(1))


def _has_ipc_lock(proc: Path) -> bool:
    """True if the process may lock memory beyond its limit. If a container has this capability, it still does nothing
    for users other than root.
    """
    match = re.search(r"^CapEff:\s*([0-9a-fA-F]+)", _text(proc / "self/status") or "", re.MULTILINE)
    return match is not None and bool(int(match.group(1), 16) >> _CAP_IPC_LOCK & 1)


def _file_system_bytes(path: Path) -> int | None:
    try:
        stat = os.statvfs(path)
    except OSError:
        return None
    return stat.f_frsize * stat.f_blocks
