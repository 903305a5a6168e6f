"""The measurements of a step, and the ports at which their servers listen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..programs.ports import PORTS
from ..talk.steps import Members, Step
from .narrowing import End, Pair, Rails, ring


class Task(NamedTuple):
    """One measurement: its kind, its pair, and whether all rails are measured in that step."""

    kind: str
    pair: Pair
    side_by_side: bool = False


def tasks_of(step: Step, nodes: Sequence[str], rails: Rails) -> list[Task]:
    """The measurements of a step, which all nodes make at the same time.

    nodes: in the order of the ring.
    """
    kind = step["kind"]
    if "pairs" in step:
        return [
            Task(kind, Pair(End(node, device), End(peer, peer_device)))
            for node, device, peer, peer_device in step["pairs"]
        ]
    every = ring(nodes, rails)
    if step.get("side_by_side"):
        return [Task(kind, pair, side_by_side=True) for pairs in every for pair in pairs]
    return [Task(kind, pair) for pair in every[step["rail"]]]


def port_of(task: Task, members: Members, turn: int) -> int:
    """The port on which the server of a task listens. No other server of this step or the step before has it on the
    same node.

    turn: the number of the step.
    """
    server = task.pair.server
    devices = list(members[server.node]["devices"])
    return int(members[server.node]["port"]) + (turn * len(devices) + devices.index(server.device)) % PORTS
