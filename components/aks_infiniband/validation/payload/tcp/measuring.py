"""TCP over the pod's networks, by sockperf between neighbours: IPoIB, and the pod network for comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..programs.clients import Answer
from ..programs.endings import SILENT_NODE
from ..say.expectations import Thresholds, falls_short
from ..say.figures import Figure
from ..talk.steps import Step
from ..talk.time_left import ENDLESS, Time
from .tools import HANGS_SECONDS, MODES, SECONDS, figures


def measure(
    do_step: Callable[[Step], Mapping[str, Answer | None]],
    nodes: Sequence[str],
    interfaces: Sequence[str],
    thresholds: Thresholds,
    *,
    tries: int,
    time: Time = ENDLESS,
) -> list[Figure]:
    """Measure every node with the next one, network by network and mode by mode. A figure that falls short is measured
    again.

    A figure lacks tries if the time was too short.
    """
    do_step({"serve": list(interfaces)})
    rows: list[Figure] = []
    for interface in interfaces:
        for mode in MODES:
            names = [name for name in figures(interface) if name.endswith("latency") is (mode == "ping-pong")]
            of_node = {
                node: [_row(name, node, peer, interface) for name in names]
                for node, peer in zip(nodes, [*nodes[1:], nodes[0]])
            }
            wanted = list(nodes)
            for _ in range(tries):
                left = time.seconds_left()
                if not wanted or left <= 0:
                    break
                answers = do_step({"sockperf": mode, "interface": interface, "nodes": wanted})
                if time.was_short(left, SECONDS[mode] + HANGS_SECONDS):
                    wanted = [node for node in wanted if answers.get(node)]
                wanted = [node for node in wanted if _enter(of_node[node], answers.get(node), thresholds)]
            rows += [row for figures_of_node in of_node.values() for row in figures_of_node]
    return rows


def _row(figure: str, node: str, peer: str, interface: str) -> Figure:
    return {"figure": figure, "node": node, "peer": peer, "network": interface, "value": None, "tries": []}


def _enter(rows: Sequence[Figure], answer: Answer | None, thresholds: Thresholds) -> bool:
    """Take in one try of a node's figures; whether it fell short."""
    answer = answer or {"values": None, "error": SILENT_NODE}
    for row in rows:
        row["value"] = (answer["values"] or {}).get(row["figure"])
        row["tries"].append({"value": row["value"], "error": answer["error"]})
    return any(row["value"] is None or falls_short(row["value"], thresholds.get(row["figure"])) for row in rows)
