"""A pod's part of a step: it is server and client at the same time, and no pair's fault delays another.

A step is one round: no node has a tool of an earlier one, so a tool that hangs costs its own pair alone. A server ends
with its client. One whose client never came is knocked at, so that it ends and says why.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..programs.clients import Answer, Client, Limits, ask
from ..programs.endings import NOT_LISTENING
from ..programs.process import Ended, Running
from ..programs.sockets import LISTEN, Connection, connections, knock, states_of_server
from ..talk.steps import Members, Step
from .narrowing import Rails
from .tasks import Task, port_of, tasks_of
from .tool import KINDS, command, figures_of

CpusOf = Callable[[str], Collection[int]]
"""The CPUs for the tools that use an HCA of this node. If it is empty, they run anywhere."""


class Place(NamedTuple):
    """A pod's place of work: its node, the path at which the kernel shows connections, the limit of tools, and their
    CPUs.
    """

    node: str
    proc: Path
    limits: Limits
    cpus_of: CpusOf


_KNOCK_SECONDS = 2.0
"""Seconds for a server to take a connection that says nothing, and to end. perftest sleeps for one of them."""
_LOOK_SECONDS = 0.2


class _Server:
    """A server of the round. The server ends by itself, or is made to end by a silent connection when no client comes,
    or is killed at its limit.
    """

    def __init__(self, running: Running, address: str, port: int, limits: Limits) -> None:
        self._running, self._address, self._port, self._limits = running, address, port, limits
        self._knocked = False
        self._came_after: float | None = None
        self.states: set[str] = set()
        self.ended: Ended | None = None

    def look(self, seen: Sequence[Connection]) -> None:
        if self.ended is not None:
            return
        now = states_of_server(seen, self._port)
        if not self._knocked:  # from then on a connection is ours
            self.states |= now
        came = bool({*self.states} - {LISTEN}) or (LISTEN in self.states and LISTEN not in now)
        seconds, connecting = self._running.seconds, self._limits.connect_seconds
        if came and self._came_after is None:
            self._came_after = seconds
        if not self._running.running:
            self.ended = self._running.wait(0)
        elif self._came_after is not None:
            # By then its client has ended. A server of ibv_rc_pingpong that gets no packet polls for ever.
            self._end_after(self._came_after + self._limits.tool_seconds)
        elif LISTEN in now and seconds >= connecting and not self._knocked:
            self._knocked = True
            knock(self._address, self._port, _KNOCK_SECONDS)
        else:
            self._end_after(connecting + _KNOCK_SECONDS)

    def _end_after(self, seconds: float) -> None:
        if self._running.seconds >= seconds:
            self.ended = self._running.kill()

    def answer(self, number: int) -> Answer | None:
        """The failure of the server of this task; None if it succeeded."""
        if self.ended is None or self.ended.error is None:
            return None
        return {"task": number, "server_error": self.ended.error, "server_sockets": sorted(self.states)}


def carry_out(step: Step, members: Members, rails: Rails, place: Place) -> list[Answer]:
    """Do this node's part of a step, as client and server at the same time.

    members: address and port by node. Returns a result for each task in which this node is the client, and for each in
    which its server failed.
    """
    tasks = tasks_of(step, list(members), rails)
    tool = KINDS[step["kind"]]
    limits = place.limits.within(tool.seconds, step["seconds"])
    level = os.environ.get("NCCL_IB_SL", "")  # a workload setting of the pool, for its fabric

    def start(task: Task, device: str, host: str = "") -> Running:
        port = port_of(task, members, step["turn"])
        words = command(task.kind, device, port, host, level, side_by_side=task.side_by_side)
        return Running(words, cpus=place.cpus_of(device), by_line=True)

    def where(task: Task) -> tuple[str, int]:
        return str(members[task.pair.server.node]["address"]), port_of(task, members, step["turn"])

    servers = {
        number: _Server(start(task, task.pair.server.device), *where(task), limits)
        for number, task in enumerate(tasks)
        if task.pair.server.node == place.node
    }
    asked = {number: task for number, task in enumerate(tasks) if task.pair.client.node == place.node}

    def look(seen: Sequence[Connection]) -> None:
        for server in servers.values():
            server.look(seen)

    results: list[Answer] = []
    answers = ask(
        [
            Client(partial(start, task, task.pair.client.device, where(task)[0]), *where(task))
            for task in asked.values()
        ],
        limits,
        proc=place.proc,
        waiting=lambda ended: bool(ended.error and NOT_LISTENING.search(ended.output)),
        figures_of=partial(figures_of, step["kind"]),
        beside=look,
    )
    for (number, task), answer in zip(asked.items(), answers):
        results.append({"task": number, **answer})
        if answer["error"]:
            knock(*where(task), _KNOCK_SECONDS)
    while any(server.ended is None for server in servers.values()):
        look(connections(place.proc))
        time.sleep(_LOOK_SECONDS)
    return results + [failed for number, server in servers.items() if (failed := server.answer(number))]
