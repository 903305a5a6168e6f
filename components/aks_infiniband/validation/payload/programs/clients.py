"""Clients that run side by side. One whose server does not listen yet is run again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypedDict

from .process import Ended, OutputError, Running, until
from .sockets import ESTABLISHED, SYN_SENT, Connection, connections, states_of_client

_LOOK_SECONDS = 0.02
"""Between two looks at the clients that run."""
_SOCKETS_SECONDS = 0.2
"""Between two looks at the connections: a handshake that is not answered is sent again after one second."""
_RETRY_SECONDS = (0.1, 0.8)
"""Seconds between two tries to reach a server that does not listen yet: at first, and at most. Each wait is twice as
long as the one before. The longest is less than the second by which tools that run side by side may begin apart
(rdma/tools.py).
"""


_AROUND_SECONDS = 10.0
"""Seconds of a step in addition to its tools: pods see that it has begun, try the servers, and write the result."""


class Limits(NamedTuple):
    """Limits of the wait for a server, and of a tool, in seconds."""

    connect_seconds: float
    tool_seconds: float

    def step_seconds(self, tool_seconds: float) -> float:
        """Limit of a step of such a tool in all, until every pod has left its words."""
        return self.connect_seconds + min(self.tool_seconds, tool_seconds) + _AROUND_SECONDS

    def within(self, tool_seconds: float, seconds: float) -> Limits:
        """These limits for one tool. The tool may take no longer than `seconds`, and no longer than the time that is
        left in all.
        """
        return Limits(min(self.connect_seconds, seconds), min(self.tool_seconds, tool_seconds, seconds))


class Answer(TypedDict, total=False):
    """The measurements of a client: figures by name, or the failure. A task's server gives only the keys that begin
    with `server_`.

    task: its number in the step. sockets: the states in which a connection was seen that failed (sockets.py).
    """

    task: int
    values: dict[str, float] | None
    error: str | None
    sockets: list[str]
    server_error: str | None
    server_sockets: list[str]


class Client(NamedTuple):
    """The start of a client, and the address and port of its server."""

    start: Callable[[], Running]
    address: str
    port: int


class _Asking:
    """A client that is started again until its server listens."""

    def __init__(self, client: Client, limits: Limits) -> None:
        self.client, self._limits = client, limits
        self._pause, self._longest_pause = _RETRY_SECONDS
        self.ended: Ended | None = None
        self.states: set[str] = set()
        self._begin()

    def _begin(self) -> None:
        self._running: Running | None = self.client.start()
        self._until = time.monotonic() + self._limits.tool_seconds

    @property
    def _is_unanswered(self) -> bool:
        """True if it has requested a connection, and nothing has answered for too long."""
        asked = SYN_SENT in self.states and ESTABLISHED not in self.states
        return asked and self._running is not None and self._running.seconds >= self._limits.connect_seconds

    def poll(self, again: Callable[[Ended], bool]) -> None:
        """See whether it has ended. Kill it if its time is up, and start it again if its server did not listen."""
        time_is_up = time.monotonic() >= self._until
        if self._running is None:
            if time_is_up:
                self._begin()
        elif self._is_unanswered:
            self.ended = self._running.kill()
        elif time_is_up or not self._running.running:
            ended = self._running.wait(until(self._until))
            if again(ended):
                self._running, self._until = None, time.monotonic() + self._pause
                self._pause = min(2 * self._pause, self._longest_pause)
            else:
                self.ended = ended


def ask(
    clients: Sequence[Client],
    limits: Limits,
    *,
    proc: Path,
    waiting: Callable[[Ended], bool],
    figures_of: Callable[[str], dict[str, float]],
    beside: Callable[[list[Connection]], None] = lambda seen: None,
) -> list[Answer]:
    """Run clients side by side, and start each again while its server does not listen yet; returns an answer for each.

    proc: the path at which the kernel shows connections. figures_of reads an output, and raises OutputError. `beside`
    is called now and then while they run, with the connections that are there.
    """
    give_up = time.monotonic() + limits.connect_seconds
    asking = [_Asking(client, limits) for client in clients]
    looked = 0.0
    while any(one.ended is None for one in asking):
        time.sleep(_LOOK_SECONDS)
        if time.monotonic() >= looked + _SOCKETS_SECONDS:
            looked, seen = time.monotonic(), connections(proc)
            for one in asking:
                one.states |= states_of_client(seen, one.client.address, one.client.port)
            beside(seen)
        for one in asking:
            if one.ended is None:
                one.poll(lambda ended: waiting(ended) and time.monotonic() < give_up)
    return [_answer(one.ended, sorted(one.states), figures_of) for one in asking if one.ended]


def _answer(ended: Ended, states: list[str], figures_of: Callable[[str], dict[str, float]]) -> Answer:
    if ended.error:
        return {"values": None, "error": ended.error, "sockets": states}
    try:
        return {"values": figures_of(ended.output), "error": None}
    except OutputError as error:
        return {"values": None, "error": f"{ended.command}: {error}", "sockets": states}
