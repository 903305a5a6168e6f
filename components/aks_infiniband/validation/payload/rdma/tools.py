"""The RDMA tools: how each is called, what its output says, and a pod's part of a step with them.

perftest (linux-rdma/perftest) for bandwidth and read latency, ibv_rc_pingpong of libibverbs' examples. Sizes and
iterations are those behind the published limits (Azure/aks-rdma-infiniband, tests/scenarios/k8s/files/scripts/
rdma_test.sh): 8 MiB and 5000 iterations on one queue pair, 2 bytes and 1000 iterations for latency. Together with other
HCAs bandwidth is measured for a time instead (SIDE_BY_SIDE).

In a step a pod is server and client at the same time, and no pair's fault delays another. A step is one round: no node
has a tool of an earlier one, so a tool that hangs costs its own pair alone. A server ends with its client. One whose
client never came is knocked at, so that it ends and says why.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..programs.clients import Answer, Client, Limits, ask
from ..programs.endings import NOT_LISTENING
from ..programs.process import Ended, OutputError, Running
from ..programs.sockets import LISTEN, Connection, connections, knock, states_of_server
from ..talk.steps import Members, Step
from .narrowing import Rails
from .tasks import Task, port_of, tasks_of

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

    def poll(self, seen: Sequence[Connection]) -> None:
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

    def poll(seen: Sequence[Connection]) -> None:
        for server in servers.values():
            server.poll(seen)

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
        beside=poll,
    )
    for (number, task), answer in zip(asked.items(), answers):
        results.append({"task": number, **answer})
        if answer["error"]:
            knock(*where(task), _KNOCK_SECONDS)
    while any(server.ended is None for server in servers.values()):
        poll(connections(place.proc))
        time.sleep(_LOOK_SECONDS)
    return results + [failed for number, server in servers.items() if (failed := server.answer(number))]
