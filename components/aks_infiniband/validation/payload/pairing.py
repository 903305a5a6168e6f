"""One pod's part in a step: it serves its neighbours and asks them, pair after pair."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple

from . import perftest, process
from .narrowing import End, Pair, Rails, ring
from .process import Answer, Limits, Running, until
from .rendezvous import Members, Step

PORTS = 64
"""Ports that one step may use, from a pod's own first one on."""
_FIRST_PORT = 18515
"""perftest's own."""
_LAST_PORT = 32000
"""Below the ports that the kernel gives to clients (ip_local_port_range, 32768 by default)."""


def free_ports(address: str = "") -> int:
    """The first of PORTS consecutive ports of this pod that nobody listens on. Raises OSError where there are none."""
    for first in range(_FIRST_PORT, _LAST_PORT, PORTS):
        if all(_is_free(address, port) for port in range(first, first + PORTS)):
            return first
    raise OSError(f"no {PORTS} free ports in a row between {_FIRST_PORT} and {_LAST_PORT}")


def _is_free(address: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return False
    return True


class Task(NamedTuple):
    """One measurement: its kind (perftest.KINDS), its pair, the round in which it is made, and whether all rails are
    measured in that round.
    """

    kind: str
    pair: Pair
    round: int
    side_by_side: bool = False


def tasks_of(step: Step, nodes: Sequence[str], rails: Rails) -> list[Task]:
    """The measurements of a step, in the order in which all nodes go through them.

    nodes: in the order of the ring.
    """
    if "pairs" in step:
        return [
            Task(str(kind), Pair(End(str(node), str(device)), End(str(peer), str(peer_device))), int(number))
            for kind, node, device, peer, peer_device, number in step["pairs"]
        ]
    if step.get("side_by_side"):
        every = [pair for pairs in ring(nodes, rails) for pair in pairs]
        return [
            Task(kind, pair, number, side_by_side=True) for number, kind in enumerate(step["ring"]) for pair in every
        ]
    groups = [(kind, pairs) for pairs in ring(nodes, rails) for kind in step["ring"]]
    return [Task(kind, pair, number) for number, (kind, pairs) in enumerate(groups) for pair in pairs]


def port_of(task: Task, members: Members) -> int:
    """Where the server of a task listens: on its node no other of the same round does, nor one of the round before."""
    server = task.pair.server
    devices = list(members[server.node]["devices"])
    return int(members[server.node]["port"]) + (task.round * len(devices) + devices.index(server.device)) % PORTS


CpusOf = Callable[[str], Collection[int]]
"""The CPUs on which the tools that use an HCA of this node are to run; empty: anywhere."""


def carry_out(tasks: Sequence[Task], node: str, members: Members, limits: Limits, cpus_of: CpusOf) -> list[Answer]:
    """Do this node's part of the tasks of one step, round after round, as client and server at the same time.

    members: by node, address and port. Returns a result for each task in which this node is the client, and for each
    in which its server failed.
    """
    mine = [(n, task) for n, task in enumerate(tasks) if node in (task.pair.client.node, task.pair.server.node)]
    results: list[Answer] = []
    for number in sorted({task.round for _, task in mine}):
        results += _one_round([(n, task) for n, task in mine if task.round == number], node, members, limits, cpus_of)
    return results


def _one_round(
    tasks: Sequence[tuple[int, Task]], node: str, members: Members, limits: Limits, cpus_of: CpusOf
) -> list[Answer]:
    """Start all servers of the round, then ask as all of its clients at once, then see how the servers ended."""
    level = os.environ.get("NCCL_IB_SL", "")  # of the pool's workload settings: what its fabric asks for

    def start(task: Task, device: str, host: str = "") -> Running:
        port = port_of(task, members)
        words = perftest.command(task.kind, device, port, host, level, side_by_side=task.side_by_side)
        return Running(words, cpus=cpus_of(device))

    ends_by = time.monotonic() + limits.connect_seconds + limits.tool_seconds
    servers = {number: start(task, task.pair.server.device) for number, task in tasks if task.pair.server.node == node}
    asked = {number: task for number, task in tasks if task.pair.client.node == node}
    clients = [
        partial(start, task, task.pair.client.device, str(members[task.pair.server.node]["address"]))
        for task in asked.values()
    ]
    results: list[Answer] = []
    try:
        answers = _ask(tasks[0][1].kind, clients, limits)
        results += [{"task": number, **answer} for number, answer in zip(asked, answers)]
    finally:
        ended = {number: server.wait(until(ends_by)) for number, server in servers.items()}
    results += [{"task": number, "server_error": end.error} for number, end in ended.items() if end.error]
    return results


def _ask(kind: str, starts: Sequence[Callable[[], Running]], limits: Limits) -> list[Answer]:
    return process.ask(
        starts,
        limits,
        waiting=lambda ended: bool(ended.error and perftest.NOT_LISTENING.search(ended.output)),
        figures_of=lambda output: perftest.figures_of(kind, output),
    )
