"""TCP over the pod's networks, by sockperf between neighbours: IPoIB, and the pod network for comparison."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence

from .checks import Check, Threshold, Thresholds, falls_short, limit_of, make_check, verdict_on
from .documents import Row
from .process import Running
from .steps import Answer, Step

SECONDS = {"ping-pong": 10, "throughput": 1}
"""How long sockperf runs in each mode: as behind the published limits; its default is one second."""
_RETRY_SECONDS = 0.1
"""Between two tries to reach a server that does not listen yet."""


def kind_of(interface: str) -> str:
    """The first part of the names of a network's figures."""
    return "pod-network" if interface == "eth0" else "ipoib"


def figures(interface: str) -> list[str]:
    """The figures of a network."""
    return [f"{kind_of(interface)}-{what}" for what in ("latency", "message-rate", "throughput")]


def ask(
    mode: str,
    interface: str,
    address: str,
    port: int,
    *,
    connect_seconds: float,
    tool_seconds: float,
    start: Callable[[Sequence[str]], Running] = Running,
) -> Answer:
    """Measure one network in one mode as a client, again while the server does not listen yet: values, error."""
    give_up = time.monotonic() + connect_seconds
    seconds = SECONDS[mode]
    while True:
        ended = start(client(mode, address, port, seconds)).wait(seconds + tool_seconds)
        # sockperf ends with code 0 after errors, too.
        if not NOT_LISTENING.search(ended.output) or time.monotonic() >= give_up:
            break
        time.sleep(_RETRY_SECONDS)
    if ended.error:
        return {"values": None, "error": ended.error}
    try:
        return {"values": figures_of(mode, ended.output, kind_of(interface)), "error": None}
    except OutputError as error:
        return {"values": None, "error": f"sockperf: {error}"}


def measure(
    do_step: Callable[[Step], Mapping[str, Answer | None]],
    nodes: Sequence[str],
    interfaces: Sequence[str],
    thresholds: Thresholds,
    *,
    tries: int,
) -> list[Row]:
    """Every node with the next one, one network and one mode after the other; what falls short, again."""
    peers = dict(zip(nodes, [*nodes[1:], nodes[0]]))
    found: dict[tuple[str, str, str], Row] = {}
    do_step({"serve": list(interfaces)})
    for interface in interfaces:
        for mode in MODES:
            wanted = list(nodes)
            for _ in range(tries):
                answers = do_step({"sockperf": mode, "interface": interface, "nodes": wanted})
                short = [
                    node
                    for node in wanted
                    if _enter(found, node, peers[node], interface, mode, answers.get(node), thresholds)
                ]
                wanted = short
                if not wanted:
                    break
    return list(found.values())


def _enter(
    found: dict[tuple[str, str, str], Row],
    node: str,
    peer: str,
    interface: str,
    mode: str,
    answer: Answer | None,
    thresholds: Thresholds,
) -> bool:
    """Take in one try; whether it fell short."""
    answer = answer or {"values": None, "error": "the node did not answer in time"}
    names = [name for name in figures(interface) if name.endswith("latency") is (mode == "ping-pong")]
    short = False
    for name in names:
        value = (answer["values"] or {}).get(name)
        row = found.setdefault(
            (name, node, interface),
            {"figure": name, "node": node, "peer": peer, "network": interface, "value": None, "tries": []},
        )
        row["value"] = value
        row["tries"].append({"value": value, "error": answer["error"]})
        threshold = thresholds.get(name)
        short |= value is None or falls_short(value, threshold)
    return short


def judge_networks(rows: Sequence[Row], thresholds: Thresholds) -> list[Check]:
    """One check for each figure of a network where all is well, one for each node where it is not."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["figure"], row["network"]), []).append(row)
    return [
        check
        for (figure, interface), group in groups.items()
        for check in _judge(figure, interface, group, thresholds.get(figure))
    ]


def _judge(figure: str, interface: str, rows: Sequence[Row], threshold: Threshold | None) -> list[Check]:
    checks = [_of_node(figure, interface, row, threshold) for row in rows]
    bad = [check for check in checks if check["verdict"] != "pass"]
    if bad:
        return bad
    values = sorted(row["value"] for row in rows if row["value"] is not None)
    spread = f"{values[0]:g} to {values[-1]:g}"
    return [{**checks[0], "node": None, "measured": spread, "tries": None}]


def _of_node(figure: str, interface: str, row: Row, threshold: Threshold | None) -> Check:
    value, cause = row["value"], None
    verdict = verdict_on(value, threshold) if value is not None else "fail"
    if value is None:
        # The pod network is measured for comparison: it fails nothing.
        verdict = "fail" if kind_of(interface) == "ipoib" else "warn"
        cause = f"with {row['peer']}: {row['tries'][-1]['error']}"
    elif verdict == "fail":
        cause = (
            f"with {row['peer']}: interface {interface} is slower than IPoIB is on these machines (a busy processor, "
            "another MTU, or a slow link)"
        )
    elif verdict == "warn":
        cause = f"with {row['peer']}: {interface} is slower than usual"
    elif verdict == "pass" and len(row["tries"]) > 1:
        verdict, cause = "warn", f"it took {len(row['tries'])} tries"
    return make_check(
        figure,
        verdict,
        node=row["node"],
        device=interface,
        expected=threshold and limit_of(threshold),
        measured=value,
        cause=cause,
        unit=threshold["unit"] if threshold else None,
        threshold=threshold,
        tries=row["tries"],
    )


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
