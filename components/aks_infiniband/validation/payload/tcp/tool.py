"""sockperf: how it is called in each mode, and what its output says."""

from __future__ import annotations

import re

from ..programs.process import OutputError

MODES = ("ping-pong", "throughput")
SECONDS = {"ping-pong": 10, "throughput": 1}
"""Seconds that sockperf runs in each mode, as for the published limits. Its default is one second."""
HANGS_SECONDS = 60.0
"""Seconds that it may take at most beyond that: the longest time that any tool has (pod/member.py)."""
NOT_LISTENING = re.compile(r"Connection refused|Can`?t connect|No route to host", re.IGNORECASE)
"""A client's words if its server does not listen (yet)."""
_MESSAGE_BYTES = {"ping-pong": "16384", "throughput": "1472"}
_BUFFERS = 10 << 20
"""Bytes that the two kernels take in for a server that reads nothing: 4 and 6 MiB (tcp_wmem and tcp_rmem, Linux'
defaults). sockperf 3.7 counts them like any others (tests/field_recordings/sockperf.yaml).
"""


def kind_of(interface: str) -> str:
    """The first part of the names of a network's figures."""
    return "pod-network" if interface == "eth0" else "ipoib"


def figures(interface: str) -> list[str]:
    """The figures of a network."""
    return [f"{kind_of(interface)}-{what}" for what in ("latency", "message-rate", "throughput")]


def server(address: str, port: int) -> list[str]:
    """The command line of a server, which serves both modes until it is killed."""
    return ["sockperf", "server", "-i", address, "-p", str(port), "--tcp", "--msg-size=1472"]


def client(mode: str, address: str, port: int, seconds: int) -> list[str]:
    """The command line of a client in a mode."""
    pace = ["--pps=max"] if mode == "ping-pong" else []
    size = f"--msg-size={_MESSAGE_BYTES[mode]}"
    return ["sockperf", mode, "-i", address, "-p", str(port), "--tcp", size, "-t", str(seconds), *pace]


def figures_of(mode: str, output: str, network: str) -> dict[str, float]:
    """The figures in a client's output, by name. Raises OutputError.

    `Summary: Latency is 44.475 usec`; `Summary: Message Rate is 593397 [msg/sec]` and `Summary: BandWidth is 833.016
    MBps (6664.126 Mbps)`. If all data fits into the kernels' buffers nothing says that it was taken in.
    """
    if mode == "ping-pong":
        return {f"{network}-latency": _value(r"Latency is ([\d.]+) usec", output)}
    sent = re.search(r"^sockperf: Total of (\d+) messages sent", output, re.MULTILINE)
    if sent and int(sent[1]) * int(_MESSAGE_BYTES[mode]) <= _BUFFERS:
        raise OutputError("throughput beyond the kernels' buffers", output)
    return {
        f"{network}-message-rate": _value(r"Message Rate is ([\d.]+) \[msg/sec\]", output),
        f"{network}-throughput": _value(r"BandWidth is [\d.]+ MBps \(([\d.]+) Mbps\)", output),
    }


def _value(pattern: str, output: str) -> float:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)  # sockperf colours its summary
    match = re.search(rf"^sockperf: Summary: {pattern}", plain, re.MULTILINE)
    if match is None or float(match.group(1)) <= 0:
        raise OutputError(pattern.partition(" is ")[0], plain)
    return float(match.group(1))
