"""A simulated machine's files, and what the simulated tools print on it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rehearsal.machines.hardware.kernel_modules import INBOX_MODULES, OFED_MODULES
from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.hardware.sysfs import dev_files, proc_files, sys_files, write_files
from rehearsal.machines.rdma_tools import listing, perftest, ping_pong

MODULES = ("ib_umad", "ib_uverbs", "mlx5_ib", "rdma_ucm")
WITH_OFED = frozenset({*INBOX_MODULES, *OFED_MODULES})


def modules_of(told: str) -> frozenset[str]:
    """`inbox`, `ofed`, or `ofed without` a module."""
    if told == "inbox":
        return frozenset(INBOX_MODULES)
    return WITH_OFED - {told.removeprefix("ofed").removeprefix(" without ")}


def enter(folder: Path, size: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in a container of a machine of a size, which holds all its RDMA devices; returns the machine's /sys."""
    machine, container = folder / "machine", folder / "container"
    hardware = hardware_of(size=size, machine="aks-nd-1-vmss000000", fabric="nd")
    write_files(machine / "sys", sys_files(hardware, MODULES))
    nodes = dev_files(rdma=hardware.rdma_devices, gpus=(), modules=MODULES)
    write_files(container / "dev", dict.fromkeys(nodes, ""))
    proc = proc_files(kernel="6.8.0-azure", capabilities=1 << 14, modules=MODULES, memlock=None)
    write_files(container / "proc", proc)
    for name, value in {
        "AKS_INFINIBAND_REHEARSAL": folder,
        "REHEARSAL_NODE": "aks-nd-1-vmss000000",
        "REHEARSAL_POD_IP": "10.244.0.7",
        "REHEARSAL_MACHINE": machine,
        "REHEARSAL_CONTAINER": container,
    }.items():
        monkeypatch.setenv(name, str(value))
    return machine / "sys"


PROGRAMS: dict[str, Callable[[list[str]], int]] = {
    "ibv_devinfo": listing.devinfo,
    "ibstat": listing.ibstat,
    "ib_write_bw": lambda arguments: perftest.main("ib_write_bw", arguments),
    "ib_read_lat": lambda arguments: perftest.main("ib_read_lat", arguments),
    "ibv_rc_pingpong": ping_pong.main,
}
