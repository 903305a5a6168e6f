"""A pod's part of a measurement by sockperf: it serves its networks, and measures to the next node."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..programs.clients import Answer, Client, Limits
from ..programs.clients import ask as ask_all
from ..programs.endings import CAUSES, client_ending
from ..programs.ports import PORTS
from ..programs.process import Running
from ..talk.steps import Entry, Members, Step
from .tool import NOT_LISTENING, SECONDS, client, figures_of, kind_of, server


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
