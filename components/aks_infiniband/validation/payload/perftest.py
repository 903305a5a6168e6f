"""The RDMA tools: how each is called, what its output says, and how a pod runs them in a step.

perftest (linux-rdma/perftest) for bandwidth and read latency, ibv_rc_pingpong of libibverbs' examples. Sizes and
iterations are those behind the published limits (Azure/aks-rdma-infiniband, tests/scenarios/k8s/files/scripts/
rdma_test.sh): 8 MiB and 5000 iterations on one queue pair, 2 bytes and 1000 iterations for latency. Beside other HCAs
bandwidth is measured for a time instead (SIDE_BY_SIDE).
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from .narrowing import End, Pair, Rails, ring
from .process import Answer, Limits, OutputError, Running, ask, until
from .rendezvous import Members, Step

BANDWIDTH_BYTES = 8388608
LATENCY_BYTES = 2


class Tool(NamedTuple):
    """One kind of measurement: program, arguments on both sides, figures, and the option for a service level.

    alone: further arguments for an HCA by itself; side_by_side: for one beside others, none where that is not done.
    """

    program: str
    arguments: tuple[str, ...]
    figures: tuple[str, ...]
    service_level: str = "-S"
    alone: tuple[str, ...] = ()
    side_by_side: tuple[str, ...] = ()


SIDE_BY_SIDE = ("-D", "3", "-f", "1")
"""Three seconds, of which perftest counts the middle one: tools that begin up to a second apart all run then, and end
together however slow a link is. A second of 8 MiB messages is 5,800 of them at 400 Gb/s and 1,490 at 100; 5000 messages
of 2 MiB, which take 0.43 s at 200 Gb/s, give a figure that 1.7 s with 8 MiB changes by 0.07 % (197.34 and 197.48 Gb/s:
Azure/aks-rdma-infiniband, tests/expected-output.md)."""
ITERATIONS = 5000
"""Of bandwidth alone."""
_BANDWIDTH = ("-s", str(BANDWIDTH_BYTES), "-q", "1", "-F", "--report_gbits")
_BY_ITSELF = ("-n", str(ITERATIONS))
_LATENCY = ("-s", str(LATENCY_BYTES), "-n", "1000", "-F")

KINDS: Mapping[str, Tool] = {
    "read-latency": Tool("ib_read_lat", _LATENCY, ("rdma-read-latency",)),
    "ping-pong": Tool("ibv_rc_pingpong", (), ("rdma-ping-pong-latency", "rdma-ping-pong-throughput"), "-l"),
    "write-bandwidth": Tool("ib_write_bw", _BANDWIDTH, ("rdma-write-bandwidth",), "-S", _BY_ITSELF, SIDE_BY_SIDE),
    "read-bandwidth": Tool("ib_read_bw", _BANDWIDTH, ("rdma-read-bandwidth",), "-S", _BY_ITSELF, SIDE_BY_SIDE),
}
"""Every kind of RDMA measurement, in the order in which they are made."""

NOT_LISTENING = re.compile(r"Couldn't connect to|Unable to (open file descriptor for|init the) socket connection")
"""What a client says whose server does not listen (yet)."""


def command(
    kind: str, device: str, port: int, host: str = "", service_level: str = "", *, side_by_side: bool = False
) -> list[str]:
    """The command line of the client, or without a host of the server. service_level: by default the tool's own, 0."""
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
    """Of `8192000 bytes in 0.01 seconds = 7643.57 Mbit/sec` and `1000 iters in 0.01 seconds = 8.57 usec/iter`."""
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
            columns = re.findall(r"#?[\w.%]+(?: (?:peak|average|percentile))?(?:\[[^\]]*\])?", line)
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


PORTS = 64
"""Ports that one step may use, from a pod's own first one on."""
_FIRST_PORT = 18515
"""perftest's own."""
_LAST_PORT = 32000
"""Below the ports that the kernel gives to clients (ip_local_port_range, 32768 by default)."""


def free_ports() -> int:
    """The first of PORTS consecutive ports of this pod that nobody listens on. Raises OSError where there are none."""
    for first in range(_FIRST_PORT, _LAST_PORT, PORTS):
        if all(_is_free(port) for port in range(first, first + PORTS)):
            return first
    raise OSError(f"no {PORTS} free ports in a row between {_FIRST_PORT} and {_LAST_PORT}")


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


class Task(NamedTuple):
    """One measurement: its kind, its pair, its round, and whether all rails are measured in that round."""

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
        words = command(task.kind, device, port, host, level, side_by_side=task.side_by_side)
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
        answers = ask(
            clients,
            limits,
            waiting=lambda ended: bool(ended.error and NOT_LISTENING.search(ended.output)),
            figures_of=partial(figures_of, tasks[0][1].kind),
        )
        results += [{"task": number, **answer} for number, answer in zip(asked, answers)]
    finally:
        ended = {number: server.wait(until(ends_by)) for number, server in servers.items()}
    results += [{"task": number, "server_error": end.error} for number, end in ended.items() if end.error]
    return results
