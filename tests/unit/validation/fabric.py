"""A pool that answers every RDMA measurement at once, with whatever is wrong with it."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from aks_infiniband.validation.payload.rdma.judge import judge_rdma
from aks_infiniband.validation.payload.rdma.measuring import measure
from aks_infiniband.validation.payload.rdma.narrowing import Pair
from aks_infiniband.validation.payload.rdma.tasks import Task, tasks_of
from aks_infiniband.validation.payload.talk.time_left import Time

GOOD = {
    "read-latency": {"rdma-read-latency": 5.5},
    "ping-pong": {"rdma-ping-pong-latency": 8.57, "rdma-ping-pong-throughput": 7643.57},
    "write-bandwidth": {"rdma-write-bandwidth": 393.1},
    "read-bandwidth": {"rdma-read-bandwidth": 394.9},
}


class Fabric:
    """Pods that carry out steps at once, with whatever is wrong with them."""

    def __init__(self, nodes: int, hcas: int) -> None:
        self.nodes = [f"n{number}" for number in range(nodes)]
        self.rails = {node: {f"ib{number}": str(number) for number in range(hcas)} for node in self.nodes}
        self.wrong: Callable[[Task, int], Any] = lambda task, attempt: None
        """A task's result instead of good figures: figures, an error, or None."""
        self.asked: dict[tuple[str, Pair], int] = {}
        self.left, self.step, self.needs = math.inf, 0.0, 0.0
        """Seconds for all steps, those that a step takes, and those that it may take."""
        self.silent: Mapping[str, int] = {}
        """Nodes from whose step on nothing comes of them."""
        self.steps: list[Any] = []

    def do(self, step: Any) -> Mapping[str, Any]:
        self.steps.append(step)
        self.left -= self.step
        answers: dict[str, list[Any]] = {node: [] for node in self.nodes}
        for number, task in enumerate(tasks_of(step, self.nodes, self.rails)):
            attempt = self.asked[task.kind, task.pair] = self.asked.get((task.kind, task.pair), 0) + 1
            given = self.wrong(task, attempt)
            told = {"error": given} if isinstance(given, str) else given or {}
            values = None if "error" in told else {**GOOD[task.kind], **told}
            client = {key: told[key] for key in ("error", "sockets") if key in told}
            server = {key: told[key] for key in ("server_error", "server_sockets") if key in told}
            answers[task.pair.client.node].append({"task": number, "error": None, **client, "values": values})
            if server:
                answers[task.pair.server.node].append({"task": number, **server})
        gone = {node for node, number in self.silent.items() if len(self.steps) >= number}
        return {node: answer for node, answer in answers.items() if node not in gone}

    def judge(self, thresholds: Any, tries: int = 3, facts: Any = None) -> tuple[Any, list[Any]]:
        time = Time(lambda: self.left, lambda _: self.needs)
        measured = measure(self.do, self.rails, thresholds, tries=tries, time=time)
        return measured, judge_rdma(measured, thresholds, facts or {})
