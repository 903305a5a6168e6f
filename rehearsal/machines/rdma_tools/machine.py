"""Reads the machine on which a simulated tool runs, as the tool's container sees it."""

import os
import sys
import time

from rehearsal.faults import machine_faults
from rehearsal.machines.rdma_tools import proc_net, wire

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from typing import Any, Final


CPUS: "Final" = "REHEARSAL_CPUS"
"""The variable that says to which of the machine's CPUs a program is bound: `lib/sitecustomize.py` sets it."""
_SYN_RETRIES: "Final" = 6
"""Default of every Linux (Documentation/networking/ip-sysctl.rst, tcp_syn_retries): 127 seconds."""
_ELSEWHERE: "Final" = 1 << 16
"""A bit that distinguishes the partitions of one placement group from those of another, which have the same keys."""


class Port:
    """The port of an RDMA device, as sysfs shows it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.device = folder.rpartition("/")[2]
        port = f"{folder}/ports/1"
        self.state = read_text(f"{port}/state").rpartition(":")[2].strip()
        """Without the number: ACTIVE, DOWN."""
        self.physical_state = read_text(f"{port}/phys_state").rpartition(":")[2].strip()
        self.rate_gbps = float(read_text(f"{port}/rate").split()[0])
        self.infiniband = read_text(f"{port}/link_layer") == "InfiniBand"
        self.lid = int(read_text(f"{port}/lid") or "0", 16)
        self.sm_lid = int(read_text(f"{port}/sm_lid") or "0", 16)
        self.guid = read_text(f"{folder}/node_guid")
        self.adapter_guid = read_text(f"{folder}/sys_image_guid")
        self.port_guid = read_text(f"{port}/gids/0")[-len(self.guid) :]
        self.partition = int(read_text(f"{port}/pkeys/0") or "0", 16) & 0x7FFF
        """The partition in slot 0, without the bit of full members. A tool uses it by default."""


class Machine:
    """The files of a machine, and its faults."""

    def __init__(self) -> None:
        """Raises KeyError outside a rehearsal."""
        self.run = os.environ[machine_faults.RUN_FOLDER_VARIABLE]
        self.node = os.environ["REHEARSAL_NODE"]
        self.address = os.environ["REHEARSAL_POD_IP"]
        self.root = os.environ["REHEARSAL_MACHINE"]
        self.sys = self.root + "/sys"
        self.container = os.environ["REHEARSAL_CONTAINER"]
        self.service_level = os.environ.get("REHEARSAL_SERVICE_LEVEL") or "0"
        """The service level that traffic needs on the fabric. The fate of other traffic is assumed: it is lost."""

    @staticmethod
    def is_here() -> bool:
        """True if the program runs in a rehearsal."""
        return machine_faults.RUN_FOLDER_VARIABLE in os.environ and "REHEARSAL_NODE" in os.environ

    def devices(self) -> "list[str]":
        """The RDMA devices whose files the container may open, in the order of their numbers."""
        verbs = f"{self.sys}/class/infiniband_verbs"
        try:
            names = sorted(os.listdir(f"{self.container}/dev/infiniband"), key=lambda name: (len(name), name))  # noqa: PTH208
        except OSError:
            return []
        names_of_devices = (read_text(f"{verbs}/{name}/ibdev") for name in names if name.startswith("uverbs"))
        return [device for device in names_of_devices if device]

    def ports(self) -> "list[Port]":
        """The ports of these devices."""
        return [Port(f"{self.sys}/class/infiniband/{device}") for device in self.devices()]

    def verbs(self) -> "list[Port]":
        """The ports that libibverbs sees."""
        return self.ports() if self._has_provider() else []

    def port(self, device: "str | None") -> "Port | None":
        """The port of a device that libibverbs sees, or of the first one."""
        devices = [name for name in self.devices() if device in (None, name)]
        if not devices or not self._has_provider():
            return None
        port = Port(f"{self.sys}/class/infiniband/{devices[0]}")
        if self.fault("placement-group"):
            port.partition |= _ELSEWHERE
        return port

    def runs_beside(self, device: str) -> bool:
        """True if the tool runs on the NUMA node of an RDMA device. One that is bound to no CPUs runs on the first."""
        node = read_text(f"{self.sys}/class/infiniband/{device}/device/numa_node")
        cpus = read_text(f"{self.sys}/devices/system/node/node{node}/cpulist")
        if not cpus:
            return True
        first, last = map(int, cpus.split("-"))
        bound = [int(cpu) for cpu in os.environ.get(CPUS, "0").split(",")]
        return first <= min(bound) and max(bound) <= last

    def _has_provider(self) -> bool:
        """True if the container has a libibverbs that knows mlx5: brought by its image, or installed since."""
        bare = os.path.isdir(f"{self.container}/lib")  # noqa: PTH112
        installed = os.path.lexists(f"{self.container}/lib/libmlx5.so.1")
        return (installed or not bare) and not self.fault("no-provider")

    def fault(self, name: str, device: "str | None" = None) -> "dict[str, Any] | None":
        """The entry of a fault that happens now to this machine, or one of its devices; None without one."""
        return machine_faults.happens(self.run, name, self.node, device)

    def locks(self, size: int) -> bool:
        """True if the container may lock so much memory."""
        limits = read_text(f"{self.container}/proc/self/limits").splitlines()
        line = next((line for line in limits if line.startswith("Max locked memory")), "")
        soft = line.split()[3:4]
        capabilities = read_text(f"{self.container}/proc/self/status").partition("CapEff:")[2].split()
        has_ipc_lock = bool(capabilities) and bool(int(capabilities[0], 16) >> 14 & 1)
        return has_ipc_lock or soft == ["unlimited"] or (bool(soft) and int(soft[0]) >= size)

    def connect(self, host: str, port: int) -> wire.Peer:
        """Reach a server. Raises NobodyError, and UnansweredError if something drops this machine's packets.

        That is when TCP gives up: a second after the first packet, and twice as long after each one that it repeats.
        """
        if self.fault("connections-dropped"):
            proc_net.Sockets().show((self.address, wire.CLIENTS_PORT), (host, port), proc_net.SYN_SENT)
            retries = int(read_text(f"{self.container}/proc/sys/net/ipv4/tcp_syn_retries") or _SYN_RETRIES)
            time.sleep(2 ** (retries + 1) - 1)
            raise wire.UnansweredError(f"{host}:{port}")
        return wire.connect(self.run, host, port)

    def count(self, device: str, counter: str, by: int) -> None:
        """Add to a port's counter."""
        path = f"{self.sys}/class/infiniband/{device}/ports/1/counters/{counter}"
        value = int(read_text(path) or 0) + by
        with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(f"{value}\n")


def buffer_as_asked() -> None:
    """Buffer the output as C's library does: in blocks if it goes into a file, or as stdbuf(1) says."""
    if os.environ.get("_STDBUF_O") == "L":
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]


def read_text(path: str) -> str:
    """The content of a file; empty if there is none."""
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            return file.read().strip()
    except OSError:
        return ""


def options(arguments: "list[str]", names: "dict[str, str]") -> "tuple[dict[str, str], list[str]]":
    """A command line's options by long name, and the rest. names: short to long, of those that take a value."""
    values: dict[str, str] = {}
    rest: list[str] = []
    pending = iter(arguments)
    for argument in pending:
        name, separator, value = argument.partition("=")
        name = names.get(name, name)
        if name in names.values():
            values[name] = value if separator else next(pending, "")
        elif argument.startswith("-"):
            values[argument] = ""
        else:
            rest.append(argument)
    return values, rest
