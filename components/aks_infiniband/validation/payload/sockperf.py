"""sockperf (Mellanox/sockperf): how it is called, and what its output says.

Message sizes and durations are those behind the published limits (Azure/aks-rdma-infiniband, tests/scenarios/k8s/
files/scripts/sockperf-test.sh): ping-pong of 16 KiB for 10 s, throughput of 1472 bytes, both over TCP.
"""

from __future__ import annotations

import re

NOT_LISTENING = re.compile(r"Connection refused|Can`?t connect|No route to host", re.IGNORECASE)
"""What a client says whose server does not listen (yet)."""

MODES = ("ping-pong", "throughput")
_MESSAGE_BYTES = {"ping-pong": "16384", "throughput": "1472"}


class OutputError(ValueError):
    """sockperf ended well and said nothing that can be read."""


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
    MBps (6664.126 Mbps)`.
    """
    if mode == "ping-pong":
        return {f"{network}-latency": _value(r"Latency is ([\d.]+) usec", output)}
    return {
        f"{network}-message-rate": _value(r"Message Rate is ([\d.]+) \[msg/sec\]", output),
        f"{network}-throughput": _value(r"BandWidth is [\d.]+ MBps \(([\d.]+) Mbps\)", output),
    }


def _value(pattern: str, output: str) -> float:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)  # sockperf colours its summary
    match = re.search(rf"^sockperf: Summary: {pattern}", plain, re.MULTILINE)
    if match is None or float(match.group(1)) <= 0:
        said = [line.strip() for line in plain.splitlines() if line.strip()]
        what = pattern.partition(" is ")[0]
        raise OutputError(f"the output has no {what}; it ends with {said[-1] if said else ''!r}")
    return float(match.group(1))
