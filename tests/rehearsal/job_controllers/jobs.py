"""The examples of jobs on a cluster: handed to it as their page says, watched, and taken away."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rehearsal.tools.paths import PROJECT
from tests.rehearsal.stacks.conftest import Stack
from tests.rehearsal.waiting import eventually

from .controllers import kubectl

NAMESPACE, POOL = "training", "ndh100"
KINDS = ("jobset", "trainjob", "trainingruntime", "pytorchjob", "mpijob", "leaderworkerset", "job", "service")
RANKS = ["python3", "-c", "import os, time; print(*(f'{n}={v}' for n, v in os.environ.items())); time.sleep(10)"]
"""Prints its environment, and runs long enough to be seen together with the others."""
LASTS = ["python3", "-c", "import time; time.sleep(25)"]


@dataclass
class Jobs:
    """The examples on one cluster."""

    stack: Stack

    def run(self, example: str, *queue: str, machines: int | None = None, lasts: bool = False) -> None:
        """The commands of its page: the pools' output through the program to kubectl. The pods' own program is RANKS.

        queue: Kueue's, at most one. machines: fewer than the pool has. lasts: True if a torchrun that would be taken to
        succeed at once runs for LASTS in its place.
        """
        program = PROJECT / "examples" / "jobs" / example / "job.py"
        command = [sys.executable, str(program), POOL, NAMESPACE, "ours:1", *queue]
        pools = {POOL: self.stack.workload(POOL)}
        pools[POOL]["nodeCount"] = machines or pools[POOL]["nodeCount"]
        given = json.dumps(pools).encode()
        made = json.loads(subprocess.run(command, input=given, capture_output=True, check=True).stdout)
        made = with_program(made, LASTS if lasts else None)
        kubectl(self.stack.kubeconfig(), "apply", "--filename", "-", given=json.dumps(made))

    def get(self, kind: str, name: str = "") -> Any:
        """An object, or all of a kind, of the namespace."""
        words = ["get", kind, *([name] if name else []), "--namespace", NAMESPACE, "--output", "json"]
        return json.loads(kubectl(self.stack.kubeconfig(), *words))

    def pods(self) -> dict[str, Any]:
        """The namespace's pods, by name."""
        return {pod["metadata"]["name"]: pod for pod in self.get("pods")["items"]}

    def has(self, kind: str, name: str, condition: str) -> bool:
        """True if a condition of an object holds."""
        conditions = (self.get(kind, name).get("status") or {}).get("conditions") or []
        return any((each["type"], each["status"]) == (condition, "True") for each in conditions)

    def log(self, pod: str, container: str) -> str:
        """The output of a container."""
        return kubectl(self.stack.kubeconfig(), "logs", pod, "--container", container, "--namespace", NAMESPACE)

    def log_of_running(self, pod: str, container: str) -> str:
        """The same of a container that may not have started; empty then."""
        states = (self.pods().get(pod) or {}).get("status", {}).get("containerStatuses") or []
        started = any(state["name"] == container and "waiting" not in state["state"] for state in states)
        return self.log(pod, container) if started else ""

    def eventually(self, question: Callable[[], Any], seconds: float = 120) -> Any:
        """The first true answer."""
        return eventually(question, seconds=seconds)

    def clear(self) -> None:
        """Take every job away, with its pods."""
        kubectl(self.stack.kubeconfig(), "delete", ",".join(KINDS), "--all", "--namespace", NAMESPACE)
        self.eventually(lambda: not self.pods())


def with_program(document: Any, torchrun: Sequence[str] | None) -> Any:
    """A document with RANKS in place of the example's `torchrun train.py`. torchrun: what any other is to be; None: it
    stays.
    """
    if isinstance(document, dict):
        return {key: with_program(value, torchrun) for key, value in document.items()}
    if isinstance(document, list):
        if document == ["torchrun", "train.py"]:
            return RANKS
        if torchrun and document[:1] == ["torchrun"]:
            return torchrun
        return [with_program(item, torchrun) for item in document]
    return document
