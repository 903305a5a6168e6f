"""Simulated ib_write_bw, ib_read_bw and ib_read_lat: what perftest prints and how it ends, with a machine's figures.

Words, their order and exit codes are those of the program itself, 4.5+0.17 of Debian 12 and 25.01.0+0.80 of Debian 13
(tests/field_recordings/tools.yaml); fields of InfiniBand alone are those of linux-rdma/perftest issues 132 and 262,
pull request 342, and of Azure/aks-rdma-infiniband, tests/expected-output.md. Like the real ones they buffer in blocks
what goes into a file: one that is killed has said nothing. Figures: bandwidth is 0.983 of the slower end's signalling
rate and latency 5.50 us, as measured there on A100 v4. Far from the HCA, that is on another NUMA node, bandwidth is
less.
"""

import sys
import time

from rehearsal.machines.rdma_tools import real, wire
from rehearsal.machines.rdma_tools.machine import Machine, Port, buffer_as_asked
from rehearsal.machines.rdma_tools.perftest_output import (
    LINE,
    TESTS,
    Options,
    Test,
    addresses,
    bandwidth,
    columns,
    header,
    latency,
)
from rehearsal.machines.rdma_tools.releases import Release, release_of
from rehearsal.machines.rdma_tools.sharing import share

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from typing import Any, Final

_FAR_SHARE: "Final" = 0.95
"""Share of its bandwidth that a tool has on another NUMA node than the HCA's. Assumed: Azure's node health checks bind
always (Azure/azurehpc-health-checks, azure_ib_write_bw_non_gdr.nhc); a figure is not published.
"""
_EXCHANGING: "Final" = " Failed to exchange data between server and clients"
_CLOSING: "Final" = "Failed to close connection between server and client"
_NO_KEYS: "Final" = "ethernet_read_keys: Couldn't read remote address"
_READING: "Final" = "Unable to read {} socket/rdma_cm\n" + _EXCHANGING
_PAGE: "Final" = 4096
"""The least that a test registers."""
_INCOMPLETE: "Final" = "scnt=128, ccnt=0\n Failed to complete run_iter_bw function successfully"


def main(program: str, arguments: list[str]) -> int:
    """Run one of the programs; returns its exit code."""
    if (code := real.hand_over(program, arguments)) is not None:
        return code
    buffer_as_asked()
    if arguments[:1] in (["--version"], ["-V"]):
        print(f"Version: {release_of(Machine() if Machine.is_here() else None).version}")
        return 1
    test, machine = TESTS[program], Machine()
    release = release_of(machine)
    chosen = Options(arguments, test)
    if chosen.duration and not chosen.duration > 2 * chosen.margin:
        print("please check that DURATION > 2*MARGIN", file=sys.stderr)
        return 1
    if not chosen.has_peak and not test.latency and release.says_no_peak:
        print(" WARNING: BW peak won't be measured in this run.")
    port = machine.port(chosen.device)
    if port is None:
        return _no_device(machine, program, chosen.device)
    if machine.fault("hang", port.device):
        while True:
            time.sleep(3600)
    if port.state != "ACTIVE":
        state = f" Port number 1 state is {port.state.capitalize()}"
        print(f"{state}\n Couldn't set the link layer\n Couldn't get context for the device", file=sys.stderr)
        return 1
    run = _Run(machine, test, chosen, port, release)
    return run.client() if chosen.host else run.server()


def _no_device(machine: Machine, program: str, device: "str | None") -> int:
    """ib_read_bw forgets to say that it gives up, and ends with a special code (read_bw.c)."""
    none = " Did not detect devices \n If device exists, check if driver is up"
    print(f"IB device {device} not found" if machine.verbs() else none, file=sys.stderr)
    if program == "ib_read_bw":
        return 7
    print(" Unable to find the Infiniband/RoCE device", file=sys.stderr)
    return 1


class _Run:
    """One end of a measurement."""

    def __init__(self, machine: Machine, test: Test, chosen: Options, port: Port, release: Release) -> None:
        self.machine, self.test, self.chosen, self.port, self.release = machine, test, chosen, port, release

    def server(self) -> int:
        print(f"\n{'*' * 36}\n* Waiting for client to connect... *\n{'*' * 36}")
        machine, chosen = self.machine, self.chosen
        try:
            if machine.fault("port-in-use"):
                raise wire.InUseError
            listener = wire.Listener(machine.run, machine.address, chosen.port)
        except wire.InUseError:
            return _fails(f"Couldn't listen to port {chosen.port}\n{self.release.connecting}")
        try:
            peer = listener.accept()
        finally:
            listener.close()
        try:
            peer.hear()
        except wire.NobodyError:  # a visitor that only tried the port
            return _fails(f"ethernet_read_data: Couldn't read reports\n {_READING.format('to')}")
        if not machine.locks(max(_PAGE, 2 * chosen.size)):
            return self._cannot_lock()
        mine = _mine(machine, self.test, chosen, self.port)
        head = header(self.test, self.port, self.chosen)
        try:
            peer.say(**mine)
            other = peer.hear()
        except wire.NobodyError:
            print(head)
            return _fails(f"{_NO_KEYS}\n {_READING.format('to')}")
        print("\n".join([head, *addresses(self.test, self.port, other)]))
        if not self.test.latency:
            print(columns(self.test, self.chosen))
        try:
            row = peer.hear()
            peer.say(done=1)
        except wire.NobodyError:
            said = f"{_NO_KEYS}\n {_READING.format('to')}"
            return _fails(said.replace(_EXCHANGING, _CLOSING) if self.test.latency else said)
        if not self.test.latency:
            print(row["row"].replace("~", " "))
        print(LINE)
        return 0

    def client(self) -> int:
        machine, chosen, test, port = self.machine, self.chosen, self.test, self.port
        host = str(chosen.host)
        try:
            peer = machine.connect(host, chosen.port)
        except wire.NobodyError:
            return _fails(f"Couldn't connect to {host}:{chosen.port}\n{self.release.connecting}")
        peer.say(version=self.release.version)
        if not machine.locks(max(_PAGE, 2 * chosen.size)):
            return self._cannot_lock()
        head = header(self.test, self.port, self.chosen)
        try:
            mine = _mine(machine, test, chosen, port)
            peer.say(**mine)
            other = peer.hear()
        except wire.NobodyError:
            print(head)
            return _fails(f"{_NO_KEYS}\n {_READING.format('from')}")
        print("\n".join([head, *addresses(self.test, self.port, other), columns(self.test, self.chosen)]))
        if (
            int(other["partition"]) != port.partition
            or chosen.service_level != machine.service_level
            or lost(machine, port, other)
        ):
            return self._unanswered()
        if machine.fault("flapping", port.device):
            machine.count(port.device, "link_downed", 1)
        row = latency(mine, other, chosen) if test.latency else bandwidth(mine, other, chosen)
        try:
            peer.say(row=row.replace(" ", "~"))
            peer.hear()
        except wire.NobodyError:  # it was killed while it was measured
            return self._unanswered()
        print(row)
        print(LINE)
        return 0

    def _unanswered(self) -> int:
        """The transport's retry counter runs out (IBV_WC_RETRY_EXC_ERR)."""
        count = "scnt=1, ccnt=1" if self.test.latency else _INCOMPLETE
        said = f" Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\n{count}"
        return _fails(said, 17 if self.test.latency else 1)

    def _cannot_lock(self) -> int:
        return _fails("Couldn't allocate MR\nfailed to create mr\nFailed to create MR\n Couldn't create IB resources")


def _fails(said: str, code: int = 1) -> int:
    print(said, file=sys.stderr)
    return code


def lost(machine: Machine, port: Port, other: "dict[str, str]") -> bool:
    """True if packets between the two ends are lost on the way, though both ports are Active."""
    return bool(machine.fault("packets-lost", port.device)) or other.get("lost") == "1"


def _mine(machine: Machine, test: Test, chosen: Options, port: Port) -> "dict[str, Any]":
    """The words of this end, once it has another: from then on it uses its HCA."""
    slow, late = machine.fault("slow", port.device), machine.fault("latency", port.device)
    left = 1.0 if test.latency else share(machine, port.device, for_a_time=chosen.duration > 0)
    left *= 1.0 if machine.runs_beside(port.device) else _FAR_SHARE
    return {
        "partition": port.partition,
        "lid": port.lid,
        "gbps": port.rate_gbps * left * (slow["factor"] if slow else 1),
        "factor": late["factor"] if late else 1,
        "lost": int(bool(machine.fault("packets-lost", port.device))),
    }
