"""The RDMA tools: how each is called, and what its output says.

perftest (linux-rdma/perftest) for bandwidth and read latency, ibv_rc_pingpong of libibverbs' examples. Sizes and
iterations are those behind the published limits (Azure/aks-rdma-infiniband, tests/scenarios/k8s/files/scripts/
rdma_test.sh): 8 MiB and 5000 iterations on one queue pair, 2 bytes and 1000 iterations for latency. Together with other
HCAs bandwidth is measured for a time instead (SIDE_BY_SIDE).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ..programs.process import OutputError

BANDWIDTH_BYTES = 8388608
LATENCY_BYTES = 2


class Tool(NamedTuple):
    """One kind of measurement: program, arguments on both sides, figures, and the option for a service level.

    alone: further arguments if an HCA is measured alone. side_by_side: those if it is measured together with others;
    none if that is not done. seconds: the longest duration, some hundred times the usual one.
    """

    program: str
    arguments: tuple[str, ...]
    figures: tuple[str, ...]
    service_level: str = "-S"
    alone: tuple[str, ...] = ()
    side_by_side: tuple[str, ...] = ()
    seconds: float = 60.0


SIDE_BY_SIDE = ("-D", "3", "-f", "1")
"""Seconds of a run. perftest counts the middle one of the three: tools that begin up to a second apart all run in it,
and they end together however slow a link is. In a second 5,800 messages of 8 MiB are sent at 400 Gb/s, and 1,490 at 100
Gb/s. That is enough: 5000 messages of 2 MiB, which take 0.43 s at 200 Gb/s, and 1.7 s with messages of 8 MiB give
figures that differ by 0.07 % (197.34 and 197.48 Gb/s: Azure/aks-rdma-infiniband, tests/expected-output.md).
"""
ITERATIONS = 5000
"""Arguments of bandwidth tools alone."""
_BANDWIDTH = ("-s", str(BANDWIDTH_BYTES), "-q", "1", "-F", "--report_gbits")
_BY_ITSELF = ("-n", str(ITERATIONS))
_LATENCY = ("-s", str(LATENCY_BYTES), "-n", "1000", "-F")

KINDS: Mapping[str, Tool] = {
    "read-latency": Tool("ib_read_lat", _LATENCY, ("rdma-read-latency",), seconds=10.0),
    "ping-pong": Tool(
        "ibv_rc_pingpong", (), ("rdma-ping-pong-latency", "rdma-ping-pong-throughput"), "-l", seconds=10.0
    ),
    "write-bandwidth": Tool("ib_write_bw", _BANDWIDTH, ("rdma-write-bandwidth",), "-S", _BY_ITSELF, SIDE_BY_SIDE),
    "read-bandwidth": Tool("ib_read_bw", _BANDWIDTH, ("rdma-read-bandwidth",), "-S", _BY_ITSELF, SIDE_BY_SIDE),
}
"""Every kind of RDMA measurement, in the order in which they are made."""


def command(
    kind: str, device: str, port: int, host: str = "", service_level: str = "", *, side_by_side: bool = False
) -> list[str]:
    """The command line of the client; without a host, that of the server. service_level: default: the tool's own, 0."""
    tool = KINDS[kind]
    level = [tool.service_level, service_level] if service_level else []
    amount = tool.side_by_side if side_by_side else tool.alone
    return [tool.program, "-d", device, "-p", str(port), *tool.arguments, *amount, *level, *([host] if host else [])]


def figures_of(kind: str, output: str) -> dict[str, float]:
    """The figures in a client's output, by name. Raises OutputError."""
    if kind == "ping-pong":
        return _ping_pong(output)
    (figure,) = KINDS[kind].figures
    if kind == "read-latency":
        return {figure: _column(output, "t_avg[usec]", LATENCY_BYTES)}
    return {figure: _column(output, "BW average[Gb/sec]", BANDWIDTH_BYTES)}


def _ping_pong(output: str) -> dict[str, float]:
    """Read `8192000 bytes in 0.01 seconds = 7643.57 Mbit/sec` and `1000 iters in 0.01 seconds = 8.57 usec/iter`."""
    latency = re.search(r"^\d+ iters in [\d.]+ seconds = ([\d.]+) usec/iter\s*$", output, re.MULTILINE)
    throughput = re.search(r"^\d+ bytes in [\d.]+ seconds = ([\d.]+) Mbit/sec\s*$", output, re.MULTILINE)
    if latency is None or throughput is None:
        raise OutputError("result of ibv_rc_pingpong", output)
    return {
        "rdma-ping-pong-latency": _positive(latency.group(1), output),
        "rdma-ping-pong-throughput": _positive(throughput.group(1), output),
    }


def _column(output: str, name: str, size: int) -> float:
    """The value of a column in the row of a message size, of perftest's table."""
    columns: list[str] | None = None
    for line in output.splitlines():
        if line.lstrip().startswith("#bytes"):
            columns = re.findall(r"#?[\w.%]+(?: (?:peak|average|percentile|min|max))?(?:\[[^\]]*\])?", line)
            continue
        fields = line.split()
        if columns is None or not fields or fields[0] != str(size):
            continue
        if name not in columns or len(fields) != len(columns):
            continue  # a row that was cut short, or mixed up with another line
        return _positive(fields[columns.index(name)], output)
    raise OutputError(f"result of a row of {size} bytes with {name}", output)


def _positive(text: str, output: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise OutputError(f"result of a number above zero ({text!r} is none)", output)
    return value
