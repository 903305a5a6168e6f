"""sockperf: how it is called in each mode, what its output says, and a pod's part of a measurement by it.

A pod serves its networks, and measures to the next node.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..programs.clients import Answer, Client, Limits
from ..programs.clients import ask as ask_all
from ..programs.endings import CAUSES, client_ending
from ..programs.ports import PORTS
from ..programs.process import OutputError, Running
from ..talk.steps import Entry, Members, Step

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


class Server(NamedTuple):
    """The address of a pod's sockperf: the network's interface, and its address and port there."""

    interface: str
    address: str
    port: int


def serve(interfaces: Sequence[str], me: Entry) -> list[Running]:
    """Start a server on each of these interfaces that the pod has an address on."""
    return [
        Running(server(me["networks"][interface], _port(me, interface)))
        for interface in interfaces
        if me["networks"].get(interface)
    ]


def ask_next(step: Step, members: Members, node: str, *, limits: Limits, proc: Path) -> Answer | None:
    """Measure from a node to the next one; None if this node is not a client of the step."""
    if node not in step["nodes"]:
        return None
    names = list(members)
    peer = members[names[(names.index(node) + 1) % len(names)]]
    interface = str(step["interface"])
    address = peer["networks"].get(interface)
    if not address:
        return {"values": None, "error": f"{peer['node']} does not have an address on {interface}"}
    return ask(step["sockperf"], Server(interface, address, _port(peer, interface)), limits, proc)


def _port(member: Entry, interface: str) -> int:
    """The port on which a pod serves on an interface: the last of its ports on eth0, the ones before it on net1, net2,
    …
    """
    number = int("".join(filter(str.isdigit, interface)) or 0)
    return int(member["port"]) + PORTS - 1 - number


def ask(mode: str, at: Server, limits: Limits, proc: Path) -> Answer:
    """Measure one network in one mode as a client. The client tries again while the server does not listen yet."""
    seconds = SECONDS[mode]
    command = client(mode, at.address, at.port, seconds)
    (answer,) = ask_all(
        [Client(lambda: Running(command, by_line=True), at.address, at.port)],
        Limits(limits.connect_seconds, seconds + limits.tool_seconds),
        proc=proc,
        # sockperf ends with code 0 after errors, too.
        waiting=lambda ended: bool(NOT_LISTENING.search(ended.output)),
        figures_of=lambda output: figures_of(mode, output, kind_of(at.interface)),
    )
    if answer["error"] and (why := CAUSES.get(client_ending(answer["error"], answer["sockets"]))):
        answer["error"] += f": {why}"
    return answer
