"""TCP over the pod's networks, by sockperf between neighbours: IPoIB, and the pod network for comparison."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..programs.clients import Answer, Client, Limits
from ..programs.clients import ask as ask_all
from ..programs.endings import CAUSES, client_ending
from ..programs.process import OutputError, Running
from ..report.document import Row
from ..say.checks import Check, Place, judged
from ..say.expectations import Threshold, Thresholds, falls_short, verdict_on
from ..talk.rendezvous import Step

SECONDS = {"ping-pong": 10, "throughput": 1}
"""How long sockperf runs in each mode: as behind the published limits; its default is one second."""


def kind_of(interface: str) -> str:
    """The first part of the names of a network's figures."""
    return "pod-network" if interface == "eth0" else "ipoib"


def figures(interface: str) -> list[str]:
    """The figures of a network."""
    return [f"{kind_of(interface)}-{what}" for what in ("latency", "message-rate", "throughput")]


class Server(NamedTuple):
    """Where a pod's sockperf listens: the network's interface, and its address and port there."""

    interface: str
    address: str
    port: int


def ask(mode: str, server: Server, limits: Limits, proc: Path) -> Answer:
    """Measure one network in one mode as a client, again while the server does not listen yet."""
    seconds = SECONDS[mode]
    command = client(mode, server.address, server.port, seconds)
    (answer,) = ask_all(
        [Client(lambda: Running(command, by_line=True), server.address, server.port)],
        Limits(limits.connect_seconds, seconds + limits.tool_seconds),
        proc=proc,
        # sockperf ends with code 0 after errors, too.
        waiting=lambda ended: bool(NOT_LISTENING.search(ended.output)),
        figures_of=lambda output: figures_of(mode, output, kind_of(server.interface)),
    )
    if answer["error"] and (why := CAUSES.get(client_ending(answer["error"], answer["sockets"]))):
        answer["error"] += f": {why}"
    return answer


def measure(
    do_step: Callable[[Step], Mapping[str, Answer | None]],
    nodes: Sequence[str],
    interfaces: Sequence[str],
    thresholds: Thresholds,
    *,
    tries: int,
) -> list[Row]:
    """Every node with the next one, one network and one mode after the other; what falls short, again."""
    do_step({"serve": list(interfaces)})
    rows: list[Row] = []
    for interface in interfaces:
        for mode in MODES:
            names = [name for name in figures(interface) if name.endswith("latency") is (mode == "ping-pong")]
            of_node = {
                node: [_row(name, node, peer, interface) for name in names]
                for node, peer in zip(nodes, [*nodes[1:], nodes[0]])
            }
            wanted = list(nodes)
            for _ in range(tries):
                answers = do_step({"sockperf": mode, "interface": interface, "nodes": wanted})
                wanted = [node for node in wanted if _enter(of_node[node], answers.get(node), thresholds)]
                if not wanted:
                    break
            rows += [row for found in of_node.values() for row in found]
    return rows


def _row(figure: str, node: str, peer: str, interface: str) -> Row:
    return {"figure": figure, "node": node, "peer": peer, "network": interface, "value": None, "tries": []}


def _enter(rows: Sequence[Row], answer: Answer | None, thresholds: Thresholds) -> bool:
    """Take in one try of a node's figures; whether it fell short."""
    answer = answer or {"values": None, "error": "the node did not answer in time"}
    for row in rows:
        row["value"] = (answer["values"] or {}).get(row["figure"])
        row["tries"].append({"value": row["value"], "error": answer["error"]})
    return any(row["value"] is None or falls_short(row["value"], thresholds.get(row["figure"])) for row in rows)


def judge_networks(rows: Sequence[Row], thresholds: Thresholds) -> list[Check]:
    """One check for each figure of a network where all is well, one for each node where it is not."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["figure"], row["network"]), []).append(row)
    return [check for group in groups.values() for check in _judge(group, thresholds.get(group[0]["figure"]))]


def _judge(rows: Sequence[Row], threshold: Threshold | None) -> list[Check]:
    checks = [_of_node(row, threshold) for row in rows]
    bad = [check for check in checks if check["verdict"] != "pass"]
    if bad:
        return bad
    values = sorted(row["value"] for row in rows if row["value"] is not None)
    return [{**checks[0], "node": None, "measured": f"{values[0]:g} to {values[-1]:g}", "tries": None}]


def _of_node(row: Row, threshold: Threshold | None) -> Check:
    value, interface, cause = row["value"], row["network"], None
    if value is None:
        # The pod network is measured for comparison: it fails nothing.
        verdict = "fail" if kind_of(interface) == "ipoib" else "warn"
        cause = str(row["tries"][-1]["error"])
    else:
        verdict = verdict_on(value, threshold)
        cause = _SLOW.get(verdict, "").format(interface) or None
    if cause is not None:
        cause = f"with {row['peer']}: {cause}"
    elif verdict == "pass" and len(row["tries"]) > 1:
        verdict, cause = "warn", f"it took {len(row['tries'])} tries"
    place: Place = {"node": row["node"], "device": interface}
    return judged(row["figure"], verdict, threshold, value, **place, cause=cause, tries=row["tries"])


_SLOW = {
    "fail": "interface {} is slower than IPoIB is on these machines (a busy processor, another MTU, or a slow link)",
    "warn": "{} is slower than usual",
}

NOT_LISTENING = re.compile(r"Connection refused|Can`?t connect|No route to host", re.IGNORECASE)
"""What a client says whose server does not listen (yet)."""

MODES = ("ping-pong", "throughput")
_MESSAGE_BYTES = {"ping-pong": "16384", "throughput": "1472"}


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
        raise OutputError(pattern.partition(" is ")[0], plain)
    return float(match.group(1))
