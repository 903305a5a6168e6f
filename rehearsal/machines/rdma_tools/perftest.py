"""Simulated ib_write_bw, ib_read_bw and ib_read_lat: what perftest 6.06 prints, with figures from the machine.

Headers, rows and errors are those of the program itself (Debian's perftest 4.5+0.17, its format strings), seen whole in
linux-rdma/perftest issues 132 and 262, pull request 342, and in Azure/aks-rdma-infiniband, tests/expected-output.md.
Figures: bandwidth is 0.983 of the slower end's signalling rate and latency 5.50 us, as measured there on A100 v4. Far
from the HCA, that is on another NUMA node, bandwidth is less.
"""

import sys
import time

from rehearsal.machines.rdma_tools import wire
from rehearsal.machines.rdma_tools.machine import Machine, Port, options
from rehearsal.machines.rdma_tools.sharing import share

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from typing import Any, Final

_LINE: "Final" = "-" * 87
_SHARE: "Final" = 196.55 / 200
_LATENCY_US: "Final" = 5.50
_FAR_SHARE: "Final" = 0.95
"""Of its bandwidth a tool has on another NUMA node than the HCA's. Assumed: Azure's node health checks bind always
(Azure/azurehpc-health-checks, azure_ib_write_bw_non_gdr.nhc); how much it matters nobody has published."""
_CONNECTING: "Final" = "Unable to open file descriptor for socket connection\n Unable to init the socket connection"


class Test:
    """One of the programs."""

    def __init__(self, title: str, *, latency: bool, reads: bool) -> None:
        self.title, self.latency, self.reads = title, latency, reads


TESTS: "Final" = {
    "ib_write_bw": Test("RDMA_Write BW Test", latency=False, reads=False),
    "ib_read_bw": Test("RDMA_Read BW Test", latency=False, reads=True),
    "ib_read_lat": Test("RDMA_Read Latency Test", latency=True, reads=True),
}


class Options:
    """What the command line says."""

    def __init__(self, arguments: "list[str]", test: Test) -> None:
        names = {"-d": "--ib-dev", "-p": "--port", "-s": "--size", "-n": "--iters", "-q": "--qp", "-S": "--sl"}
        given, rest = options(arguments, names | {"-D": "--duration", "-f": "--margin"})
        self.device = given.get("--ib-dev")
        self.port = int(given.get("--port") or 18515)
        self.size = int(given.get("--size") or (2 if test.latency else 65536))
        self.iterations = int(given.get("--iters") or (1000 if test.reads else 5000))
        self.duration = int(given.get("--duration") or 0)
        """Seconds; 0 for a number of iterations."""
        self.margin = int(given.get("--margin") or self.duration // 4)
        """Seconds at either end in which nothing is counted."""
        self.service_level = given.get("--sl") or "0"
        self.gbits = "--report_gbits" in given
        self.host = rest[0] if rest else None


def main(program: str, arguments: list[str]) -> int:
    """Run one of the programs; returns its exit code."""
    test = TESTS[program]
    if arguments[:1] in (["--version"], ["-V"]):
        print("Version: 6.06")
        return 0
    chosen = Options(arguments, test)
    if chosen.duration and not chosen.duration > 2 * chosen.margin:
        print("please check that DURATION > 2*MARGIN", file=sys.stderr)
        return 1
    machine = Machine()
    port = machine.port(chosen.device)
    if port is None:
        print(f" IB device {chosen.device} not found\n Unable to find the Infiniband/RoCE device", file=sys.stderr)
        return 1
    if port.state != "ACTIVE":
        state = port.state.capitalize()
        print(f" Port number 1 state is {state}\n Couldn't set the link layer", file=sys.stderr)
        return 1
    if machine.fault("hang", port.device):
        while True:
            time.sleep(3600)
    if not machine.locks(2 * chosen.size):
        print(
            "Couldn't allocate MR\nfailed to create mr\nFailed to create MR\n Couldn't create IB resources",
            file=sys.stderr,
        )
        return 1
    if chosen.duration and not test.latency:
        print(" WARNING: BW peak won't be measured in this run.")
    return _client(machine, test, chosen, port) if chosen.host else _server(machine, test, chosen, port)


def _server(machine: Machine, test: Test, chosen: Options, port: Port) -> int:
    print(f"\n************************************\n* Waiting for client to connect... *\n{'*' * 36}", flush=True)
    try:
        if machine.fault("port-in-use"):
            raise wire.InUseError
        listener = wire.Listener(machine.run, machine.address, chosen.port)
    except wire.InUseError:
        print(f"Couldn't listen to port {chosen.port}\n{_CONNECTING}", file=sys.stderr)
        return 1
    try:
        peer = listener.accept()
        other = peer.hear()
        peer.say(**_mine(machine, test, chosen, port))
        _header(test, port, other, chosen)
        ended = peer.hear()
    except wire.NobodyError:
        print("ethernet_read_keys: Couldn't read remote address\n Unable to read to socket/rdma_cm", file=sys.stderr)
        return 1
    finally:
        listener.close()
    if ended["failed"] == "1":
        return 1
    print(_LINE)
    return 0


def _client(machine: Machine, test: Test, chosen: Options, port: Port) -> int:
    host = str(chosen.host)
    try:
        peer = wire.connect(machine.run, host, chosen.port)
        mine = _mine(machine, test, chosen, port)
        peer.say(**mine)
        other = peer.hear()
    except wire.NobodyError:
        print(f"Couldn't connect to {host}:{chosen.port}\n{_CONNECTING}", file=sys.stderr)
        return 1
    _header(test, port, other, chosen)
    if int(other["partition"]) != port.partition or chosen.service_level != machine.service_level:
        # Nothing answers on another partition or service level: the transport's retry counter runs out
        # (IBV_WC_RETRY_EXC_ERR).
        print(
            " Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\nscnt=128, ccnt=0",
            file=sys.stderr,
        )
        peer.say(failed=1)
        return 1
    if machine.fault("flapping", port.device):
        machine.count(port.device, "link_downed", 1)
    _latency(mine, other, chosen) if test.latency else _bandwidth(mine, other, chosen)
    peer.say(failed=0)
    print(_LINE)
    return 0


def _mine(machine: Machine, test: Test, chosen: Options, port: Port) -> "dict[str, Any]":
    """What this end has to say, once it has another: from then on it uses its HCA."""
    slow, late = machine.fault("slow", port.device), machine.fault("latency", port.device)
    left = 1.0 if test.latency else share(machine, port.device, for_a_time=chosen.duration > 0)
    left *= 1.0 if machine.runs_beside(port.device) else _FAR_SHARE
    return {
        "partition": port.partition,
        "lid": port.lid,
        "gbps": port.rate_gbps * left * (slow["factor"] if slow else 1),
        "factor": late["factor"] if late else 1,
    }


def _header(test: Test, port: Port, other: "dict[str, str]", chosen: Options) -> None:
    outstanding = " Outstand reads  : 16" if test.reads else " Max inline data : 0[B]"
    depth = f" TX depth        : {1 if test.latency else 128}"
    moderation = [] if test.latency else [" CQ Moderation   : 100"]
    order = [" PCIe relax order: ON", " ibv_wr* API     : ON"]
    out, lid = " OUT 0x10" if test.reads else "", int(other["lid"])
    lines = [
        _LINE,
        f"                    {test.title}",
        f" Dual-port       : OFF\t\tDevice         : {port.device}",
        " Number of qps   : 1\t\tTransport type : IB",
        " Connection type : RC\t\tUsing SRQ      : OFF",
        *order,
        depth,
        *moderation,
        " Mtu             : 4096[B]",
        " Link type       : IB",
        outstanding,
        " rdma_cm QPs\t : OFF",
        " Data ex. method : Ethernet",
        _LINE,
        f" local address: LID {port.lid:#04x} QPN 0x01c7 PSN 0x5f9cc0{out} RKey 0x1810bd VAddr 0x007f2a5a8ab000",
        f" remote address: LID {lid:#04x} QPN 0x01c8 PSN 0x31b8bc{out} RKey 0x1820be VAddr 0x007f1d5c6b2000",
        _LINE,
    ]
    unit = "Gb/sec" if chosen.gbits else "MB/sec"
    columns = (
        " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   "
        "99% percentile[usec]   99.9% percentile[usec] "
        if test.latency
        else f" #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]"
    )
    print("\n".join([*lines, columns]), flush=True)


def _bandwidth(mine: "dict[str, Any]", other: "dict[str, str]", chosen: Options) -> None:
    gbps = min(mine["gbps"], float(other["gbps"])) * _SHARE
    rate = gbps * 1e9 / 8 / chosen.size / 1e6
    value = gbps if chosen.gbits else gbps * 1e9 / 8 / 2**20
    peak = 0.0 if chosen.duration else value
    counted = int(rate * 1e6 * (chosen.duration - 2 * chosen.margin)) if chosen.duration else chosen.iterations
    shown = f"{peak:<7.2f}            {value:<7.2f}\t\t   {rate:<7.6f}"
    print(f" {chosen.size:<7d}    {counted:<10d}       {shown}")


def _latency(mine: "dict[str, Any]", other: "dict[str, str]", chosen: Options) -> None:
    average = _LATENCY_US * max(mine["factor"], float(other["factor"]))
    figures = (average - 0.15, average * 2.14, average - 0.01, average, 0.18, average + 0.24, average * 2.14)
    shown = "       ".join(f"{value:<7.2f}" for value in figures)
    print(f" {chosen.size:<7d} {chosen.iterations:<10d}    {shown}")
