"""Two containers of simulated machines, with an HCA each, whose tools run in the virtual machine."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from aks_infiniband.validation.payload.programs.sockets import connections

from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.hardware.sysfs import dev_files, sys_files, write_files
from rehearsal.machines.rdma_tools import real
from rehearsal.real_tools.machine import Machine
from rehearsal.real_tools.pods import Pods
from rehearsal.tools.paths import PROJECT
from tests.some_pools import HBV4

ADDRESSES = {"node-a": "10.244.7.1", "node-b": "10.244.7.2"}
MODULES = ("ib_umad", "ib_uverbs", "rdma_ucm")
PATIENCE_SECONDS = 60


class Containers:
    """One container on each of two nodes."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        """folder: an empty one, as a rehearsal's run folder."""
        self._folder = folder
        self._started: list[subprocess.Popen[bytes]] = []
        (folder / real.SOCKET).parent.mkdir(parents=True)
        Pods(machine, folder / real.SOCKET)
        for node in ADDRESSES:
            hardware = hardware_of(size=HBV4, machine=node, fabric="one")
            write_files(folder / node / "sys", sys_files(hardware, MODULES))
            files = dev_files(rdma=hardware.hcas, gpus=(), modules=MODULES)
            write_files(folder / node / "dev", dict.fromkeys(files, ""))
            (folder / node / "proc").mkdir()

    def start(self, node: str, *command: str) -> "subprocess.Popen[bytes]":
        """Start a tool in a node's container."""
        place = {"REHEARSAL_MACHINE": str(self._folder / node), "REHEARSAL_CONTAINER": str(self._folder / node)}
        who = {"REHEARSAL_NODE": node, "REHEARSAL_POD_IP": ADDRESSES[node]}
        environment = {"PATH": os.environ["PATH"], "AKS_INFINIBAND_REHEARSAL": str(self._folder), **who, **place}
        program, *arguments = command
        with (self._folder / f"{node}.out").open("wb") as out:
            tool = [str(PROJECT / "rehearsal/machines/bin" / program), *arguments]
            self._started.append(subprocess.Popen(tool, env=environment, stdout=out, stderr=subprocess.STDOUT))
        return self._started[-1]

    def said(self, node: str) -> str:
        """The output of the node's last tool so far."""
        return (self._folder / f"{node}.out").read_text()

    def sockets(self, node: str) -> set[str]:
        """The states of the TCP sockets that the node's container shows."""
        return {each.state for each in connections(self._folder / node / "proc")}

    def reach(self, node: str, other: str, port: int) -> bool:
        """Knock from one container at a server of the other; whether one listens."""
        return real.reach(str(self._folder), node, ADDRESSES[node], ADDRESSES[other], port)

    def kill(self) -> None:
        """Kill what still runs."""
        for process in self._started:
            process.kill()
            process.wait()


@contextmanager
def two_containers(machine: Machine, folder: Path) -> Iterator[Containers]:
    """Two containers, whose tools end with the block."""
    containers = Containers(machine, folder)
    try:
        yield containers
    finally:
        containers.kill()


def wait_until(holds: Callable[[], object]) -> None:
    """Wait until something holds; fails if it does not come to that."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < give_up
        time.sleep(0.1)
