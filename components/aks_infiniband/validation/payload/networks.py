"""TCP over the pod's networks, by sockperf between neighbours: IPoIB, and the pod network for comparison."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import sockperf
from .checks import Check, make_check
from .process import Running
from .rdma import falls_short
from .rdma_judge import limit_of

SECONDS = {"ping-pong": 10, "throughput": 1}
"""How long sockperf runs in each mode: as behind the published limits; its default is one second."""
_RETRY_SECONDS = 0.1
"""Between two tries to reach a server that does not listen yet."""

Row = dict[str, Any]
"""figure, node, peer, network (the interface), value or None, tries (value, error)."""


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
) -> dict[str, Any]:
    """Measure one network in one mode as a client, again while the server does not listen yet: values, error."""
    give_up = time.monotonic() + connect_seconds
    seconds = SECONDS[mode]
    while True:
        ended = start(sockperf.client(mode, address, port, seconds)).wait(seconds + tool_seconds)
        # sockperf ends with code 0 after errors, too.
        if not sockperf.NOT_LISTENING.search(ended.output) or time.monotonic() >= give_up:
            break
        time.sleep(_RETRY_SECONDS)
    if ended.error:
        return {"values": None, "error": ended.error}
    try:
        return {"values": sockperf.figures_of(mode, ended.output, kind_of(interface)), "error": None}
    except sockperf.OutputError as error:
        return {"values": None, "error": f"sockperf: {error}"}


def measure(
    do_step: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    nodes: Sequence[str],
    interfaces: Sequence[str],
    thresholds: Mapping[str, Mapping[str, Any]],
    *,
    tries: int,
) -> list[Row]:
    """Every node with the next one, one network and one mode after the other; what falls short, again."""
    peers = dict(zip(nodes, [*nodes[1:], nodes[0]]))
    found: dict[tuple[str, str, str], Row] = {}
    do_step({"serve": list(interfaces)})
    for interface in interfaces:
        for mode in sockperf.MODES:
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
    answer: Mapping[str, Any] | None,
    thresholds: Mapping[str, Mapping[str, Any]],
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
        short |= value is None or (threshold is not None and falls_short(value, threshold, "fail"))
    return short


def judge_networks(rows: Sequence[Row], thresholds: Mapping[str, Mapping[str, Any]]) -> list[Check]:
    """One check for each figure of a network where all is well, one for each node where it is not."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["figure"], row["network"]), []).append(row)
    return [
        check
        for (figure, interface), group in groups.items()
        for check in _judge(figure, interface, group, thresholds.get(figure))
    ]


def _judge(figure: str, interface: str, rows: Sequence[Row], threshold: Mapping[str, Any] | None) -> list[Check]:
    checks = [_one(figure, interface, row, threshold) for row in rows]
    bad = [check for check in checks if check["verdict"] != "pass"]
    if bad:
        return bad
    values = sorted(row["value"] for row in rows)
    spread = f"{values[0]:g} to {values[-1]:g}"
    return [{**checks[0], "node": None, "measured": spread, "tries": None}]


def _one(figure: str, interface: str, row: Row, threshold: Mapping[str, Any] | None) -> Check:
    value, verdict, cause = row["value"], "pass", None
    if value is None:
        # The pod network is measured for comparison: it fails nothing.
        verdict = "fail" if kind_of(interface) == "ipoib" else "warn"
        cause = f"with {row['peer']}: {row['tries'][-1]['error']}"
    elif threshold is None:
        verdict = "not judged"
    elif falls_short(value, threshold, "fail"):
        verdict = "fail"
        cause = (
            f"with {row['peer']}: interface {interface} is slower than IPoIB is on these machines (a busy processor, "
            "another MTU, or a slow link)"
        )
    elif falls_short(value, threshold, "warn"):
        verdict, cause = "warn", f"with {row['peer']}: {interface} is slower than usual"
    elif len(row["tries"]) > 1:
        verdict, cause = "warn", f"it took {len(row['tries'])} tries"
    return make_check(
        figure,
        verdict,
        node=row["node"],
        device=interface,
        expected=None if threshold is None else limit_of(threshold),
        measured=value,
        cause=cause,
        unit=None if threshold is None else str(threshold["unit"]),
        threshold=None if threshold is None else dict(threshold),
        tries=row["tries"],
    )
