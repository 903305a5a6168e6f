"""The simulated RDMA tools end as the real ones did: field by field, exit code by exit code."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from aks_infiniband.validation.payload.programs.sockets import SYN_SENT, connections

from rehearsal.faults.machine_faults import FILE
from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.hardware.sysfs import dev_files, sys_files, write_files
from rehearsal.machines.rdma_tools import wire
from rehearsal.tools.paths import PROJECT
from tests.unit.field_recordings.recordings import recorded

RECORDED = recorded("tools")
COMPARED = [entry for entry in RECORDED if entry["release"] == "4.5" or entry["tool"] == "ib_write_bw"]
CASES = [
    pytest.param(list(sides), id="-".join(map(str, key)))
    for key, sides in groupby(
        sorted(COMPARED, key=lambda entry: (entry["tool"], entry["release"], entry["case"])),
        key=lambda entry: (entry["tool"], entry["release"], entry["case"]),
    )
]
"""The differences of the later release show in every program of perftest alike."""
PORT = 18600
MODULES = ("ib_umad", "ib_uverbs", "rdma_ucm")
_NEEDED = "-g 1 -n 100"
"""Arguments of ibv_rc_pingpong in addition to the payload's."""
_ONLY_SOFT_ROCE = re.compile(r"Device not recognized| GID| Link type| ibv_wr\* API| Outstand reads| PCIe relax|-{20}")
"""Lines in which Soft-RoCE and an InfiniBand HCA differ, and rules, of which it makes one more."""


def comparable(text: str) -> list[str]:
    """The lines without numbers, addresses, and the text of an errno that was never set."""
    lines = []
    for line in text.splitlines():
        if _ONLY_SOFT_ROCE.match(line) or not line.strip():
            continue
        masked = re.sub(r"(server read|client read/write): .*", r"\1", line)
        masked = re.sub(r"\bGID \S+", "GID #", masked)
        masked = re.sub(r"0x[0-9a-f]+|(?<![\w%])\d[\d.:]*", "#", masked)
        lines.append(" ".join(masked.split()))
    return lines


class Pair:
    """Two containers on two machines, in which simulated tools run."""

    def __init__(self, folder: Path, case: str, release: str) -> None:
        self.folder = folder
        faults: list[dict[str, Any]] = [{"fault": "perftest", "release": release}]
        if case == "packets-lost":
            faults.append({"fault": "packets-lost", "node": "server"})
        if case.startswith("dropped"):
            faults.append({"fault": "connections-dropped", "node": "client"})
        write_files(folder, {FILE: json.dumps(faults)})
        for node in ("client", "server"):
            hardware = hardware_of(size="Standard_ND128isr_GB300_v6", machine=node, fabric="one")
            write_files(folder / node / "sys", sys_files(hardware, MODULES))
            nodes = dev_files(rdma=hardware.hcas, gpus=(), modules=MODULES)
            write_files(folder / node / "dev", dict.fromkeys(nodes, ""))
            locks = case != f"{node}-cannot-lock"
            bound = "unlimited" if locks else "1024"
            limits = f"Max locked memory         {bound}            {bound}            bytes     "
            capabilities = f"CapEff:\t{(1 << 14) * locks:016x}"
            write_files(folder / node / "proc", {"self/limits": limits, "self/status": capabilities})
            if case == "no-device-file":
                for number in (0, 2):  # of both ends' devices
                    (folder / node / f"dev/infiniband/uverbs{number}").unlink()
        if case == "dropped-for-long":
            write_files(folder / "client", {"proc/sys/net/ipv4/tcp_syn_retries": "0"})
        if case == "port-of-server-down":
            (folder / "server/sys/class/infiniband/mlx5_2/ports/1/state").write_text("1: DOWN\n")

    def start(self, entry: dict[str, Any]) -> "subprocess.Popen[bytes]":
        node, arguments = entry["side"], entry["arguments"].replace(_NEEDED, "")
        environment = {
            "PATH": os.environ["PATH"],
            **{"AKS_INFINIBAND_REHEARSAL": str(self.folder), "REHEARSAL_NODE": node},
            **{"REHEARSAL_POD_IP": self.address(node), "REHEARSAL_MACHINE": str(self.folder / node)},
            "REHEARSAL_CONTAINER": str(self.folder / node),
        }
        with (self.folder / f"{node}.out").open("wb") as out:
            tool = PROJECT / "rehearsal/machines/bin" / entry["tool"]
            command = [str(tool), *arguments.split()]
            return subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)

    @staticmethod
    def address(node: str) -> str:
        return {"client": "10.244.0.1", "server": "10.244.0.2"}[node]

    def listens(self, server: "subprocess.Popen[bytes]") -> None:
        """Wait until the server listens, or has ended."""
        socket, deadline = self.folder / f"machines/wire/{self.address('server')}_{PORT}", time.monotonic() + 60
        while not socket.exists() and server.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)

    @staticmethod
    def serve_and_die(listener: wire.Listener) -> None:
        """Do as a server that is killed while it is measured: it has told the client who it is."""
        peer = listener.accept()
        peer.hear()
        peer.say(**peer.hear())
        peer.hear()  # the client measures
        peer.close()
        listener.close()

    def ended(self, process: "subprocess.Popen[bytes]", entry: dict[str, Any]) -> int | None:
        """The end of a tool by itself; None for one that waits, and is killed then."""
        if entry["code"] is not None:
            return process.wait(60)
        if entry["case"] == "dropped":
            deadline = time.monotonic() + 60
            while SYN_SENT not in {each.state for each in connections(self.folder / entry["side"] / "proc")}:
                assert time.monotonic() < deadline
                time.sleep(0.01)
        assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        return None

    def said(self, node: str) -> str:
        return (self.folder / f"{node}.out").read_text()


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Any]:
    started: list[subprocess.Popen[bytes]] = []

    def both(entries: list[dict[str, Any]]) -> dict[str, tuple[int | None, str]]:
        """The end of each side of a case: code, None if it had to be killed, and words."""
        case = entries[0]["case"]
        pair = Pair(tmp_path, case, entries[0]["release"])
        sides = {entry["side"]: entry for entry in entries}
        ended: dict[str, tuple[int | None, str]] = {}
        if "server" in sides:
            started.append(pair.start(sides["server"]))
            pair.listens(started[0])
        if case == "server-killed":
            Thread(
                target=pair.serve_and_die, args=(wire.Listener(str(tmp_path), pair.address("server"), PORT),)
            ).start()
        if case == "knocked-at":
            wire.connect(str(tmp_path), pair.address("server"), PORT).close()
        if "client" in sides:
            started.append(pair.start(sides["client"]))
            ended["client"] = (pair.ended(started[-1], sides["client"]), pair.said("client"))
        if "server" in sides:
            ended["server"] = (pair.ended(started[0], sides["server"]), pair.said("server"))
        return ended

    yield both
    for process in started:
        if process.poll() is None:
            process.kill()


@pytest.mark.parametrize("entries", CASES)
def test_a_simulated_tool_says_what_the_real_one_said_and_ends_with_its_code(run: Any, entries: list[Any]) -> None:
    ended = run(entries)
    for entry in entries:
        code, said = ended[entry["side"]]
        assert code == entry["code"], said
        assert comparable(said) == comparable(entry["excerpt"]), entry["name"]
