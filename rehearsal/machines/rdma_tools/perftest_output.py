"""The options of perftest's programs, and the tables that they print."""

from rehearsal.machines.rdma_tools.machine import Port, options

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from typing import Any, Final

LINE: "Final" = "-" * 87
_SHARE: "Final" = 196.55 / 200
_LATENCY_US: "Final" = 5.50
_DEPTH: "Final" = 128
_LARGE: "Final" = 8192
"""From this message size on, each completion is requested (perftest_parameters.c, force_dependecies)."""

_MOST_WITH_PEAK: "Final" = 20000
"""Iterations up to which a peak is measured (perftest_parameters.c, force_dependecies)."""


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
    """The content of the command line."""

    def __init__(self, arguments: "list[str]", test: Test) -> None:
        names = {"-d": "--ib-dev", "-p": "--port", "-s": "--size", "-n": "--iters", "-q": "--qp", "-S": "--sl"}
        values, rest = options(arguments, names | {"-D": "--duration", "-f": "--margin"})
        self.device = values.get("--ib-dev")
        self.port = int(values.get("--port") or 18515)
        self.size = int(values.get("--size") or (2 if test.latency else 65536))
        self.iterations = int(values.get("--iters") or (1000 if test.reads else 5000))
        self.duration = int(values.get("--duration") or 0)
        """Seconds; 0 for a number of iterations."""
        self.has_peak = not self.duration and self.iterations <= _MOST_WITH_PEAK
        self.margin = int(values.get("--margin") or self.duration // 4)
        """Seconds at either end in which nothing is counted."""
        self.service_level = values.get("--sl") or "0"
        self.gbits = "--report_gbits" in values
        self.host = rest[0] if rest else None


def header(test: Test, port: Port, chosen: Options) -> str:
    """The words of an end on itself before it has exchanged addresses."""
    depth = 1 if test.latency else _DEPTH if chosen.duration else min(_DEPTH, chosen.iterations)
    moderation = 1 if chosen.size > _LARGE else min(100, depth)
    lines = [
        LINE,
        f"                    {test.title}",
        f" Dual-port       : OFF\t\tDevice         : {port.device}",
        " Number of qps   : 1\t\tTransport type : IB",
        " Connection type : RC\t\tUsing SRQ      : OFF",
        *(" PCIe relax order: ON", " ibv_wr* API     : ON"),
        *([f" TX depth        : {depth}"] if chosen.host else []),
        *([] if test.latency else [f" CQ Moderation   : {moderation}"]),
        *(" Mtu             : 4096[B]", " Link type       : IB"),
        " Outstand reads  : 16" if test.reads else " Max inline data : 0[B]",
        *(" rdma_cm QPs\t : OFF", " Data ex. method : Ethernet"),
        LINE,
    ]
    return "\n".join(lines)


def addresses(test: Test, port: Port, other: "dict[str, str]") -> "list[str]":
    """The two ends."""
    out = " OUT 0x10" if test.reads else ""
    ends = (("local", port.lid, "1c7"), ("remote", int(other["lid"]), "1c8"))
    rest = f"PSN 0x5f9cc0{out} RKey 0x1810bd VAddr 0x007f2a5a8ab000"
    return [*(f" {end} address: LID {lid:#04x} QPN 0x0{qp} {rest}" for end, lid, qp in ends), LINE]


def columns(test: Test, chosen: Options) -> str:
    """The heading of the results."""
    unit = "Gb/sec" if chosen.gbits else "MB/sec"
    return (
        " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   "
        "99% percentile[usec]   99.9% percentile[usec] "
        if test.latency
        else f" #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]"
    )


def bandwidth(mine: "dict[str, Any]", other: "dict[str, str]", chosen: Options) -> str:
    """The row of a bandwidth."""
    gbps = min(mine["gbps"], float(other["gbps"])) * _SHARE
    rate = gbps * 1e9 / 8 / chosen.size / 1e6
    value = gbps if chosen.gbits else gbps * 1e9 / 8 / 2**20
    peak = value if chosen.has_peak else 0.0
    counted = int(rate * 1e6 * (chosen.duration - 2 * chosen.margin)) if chosen.duration else chosen.iterations
    shown = f"{peak:<7.2f}            {value:<7.2f}\t\t   {rate:<7.6f}"
    return f" {chosen.size:<7d}    {counted:<10d}       {shown}"


def latency(mine: "dict[str, Any]", other: "dict[str, str]", chosen: Options) -> str:
    """The row of a latency."""
    average = _LATENCY_US * max(mine["factor"], float(other["factor"]))
    figures = (average - 0.15, average * 2.14, average - 0.01, average, 0.18, average + 0.24, average * 2.14)
    shown = "       ".join(f"{value:<7.2f}" for value in figures)
    return f" {chosen.size:<7d} {chosen.iterations:<10d}    {shown}"
