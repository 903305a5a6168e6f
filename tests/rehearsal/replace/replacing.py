"""`aks-infiniband replace` on a rehearsed pool, as a person runs it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml
from aks_infiniband_cli.bad_machines.replace.quarantine import is_in_quarantine
from aks_infiniband_cli.preflight.rehearsed import VARIABLE
from lightkube.resources.core_v1 import Node

from rehearsal.control_plane import RunFolder
from rehearsal.session import Rehearsal
from tests.rehearsal.stacks.conftest import SPEED, Stack, copy_of_project

COMMAND = str(Path(sys.executable).with_name("aks-infiniband"))
LIMIT_SECONDS = 1800
UNBOUNDED = ("--a-day", "50", "--at-once", "16")
"""All tests happen on one day, and one that fails leaves its machine to the others' budget."""
MACHINES = os.environ.get("REPLACE_MACHINES")
"""Fewer machines, for who tries something."""


@dataclass
class Fleet:
    """A stack with one pool that is validated. pool: as AKS calls it; count: of its machines."""

    stack: Stack
    pool: str
    count: int

    def command(self, *arguments: str) -> "subprocess.Popen[str]":
        """The command, begun."""
        environment = {**os.environ, VARIABLE: str(self.stack.rehearsal.run.azure_login)}
        given = [*arguments, "--kubeconfig", str(self.stack.kubeconfig()), "--output", "json"]
        return subprocess.Popen(
            [COMMAND, "replace", *given],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def replaced(self, folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
        """The exit code of the command, and its case. folder: for evidence."""
        done = self.command(*arguments, *UNBOUNDED, "--evidence", str(folder))
        out, said = done.communicate(timeout=LIMIT_SECONDS)
        assert done.returncode in (0, 1), said
        found: dict[str, Any] = json.loads(out)
        assert found["cases"], found["plan"]
        return done.returncode, found["cases"][-1]

    def names(self) -> list[str]:
        """The pool's nodes."""
        return sorted(node["metadata"]["name"] for node in self.stack.nodes(agentpool=self.pool))

    def node(self, number: int) -> str:
        """A node of the pool that is there now: each test takes one of its own."""
        return self.names()[number % self.count]

    def is_whole(self) -> bool:
        """Whether the pool has all machines, all of them may be used, and the program finds nothing to do."""
        nodes = [node.to_dict() for node in self.stack.cluster().list(Node)]
        held = [node for node in nodes if is_in_quarantine(node) or node["spec"].get("unschedulable")]
        return len(self.names()) == self.count and not held and not self.stack.preview().changed


@contextmanager
def fleet(folder: Path, name: str, *, machines: int) -> Iterator[Fleet]:
    """A stack of the project in a data centre of its own, up, with so many machines in its one pool."""
    count = int(MACHINES or machines)
    project = copy_of_project(folder / "project")
    file = project / f"Pulumi.{name}.yaml"
    settings = yaml.safe_load(file.read_text())
    (declared,) = settings["config"]["aks-infiniband:pools"]
    declared["count"] = count
    file.write_text(yaml.safe_dump(settings))
    rehearsal = Rehearsal(project=project, stack=name, run=RunFolder.at(folder / "run"), speed=SPEED)
    with rehearsal.data_centre():
        stack = Stack(rehearsal)
        done = stack.up()
        assert done.succeeded, done.said
        yield Fleet(stack, declared["name"], count)


def steps(case: dict[str, Any]) -> list[str]:
    """What was done, in order."""
    return [line["step"] for line in case["lines"]]


def tell(what: str, case: dict[str, Any]) -> None:
    """The timeline for docs/replace.md, with `pytest -s`: simulated minutes since the case began."""
    began = datetime.fromisoformat(case["lines"][0]["at"])
    for line in case["lines"]:
        minutes = (datetime.fromisoformat(line["at"]) - began).total_seconds() * SPEED / 60
        print(f"{what} | {minutes:5.0f} | {line['step']} | {line['what']}")


BEFORE = ["Quarantined", "Emptied", "EvidenceKept", "Restarted"]
"""What is done to every machine."""
CURED_BY_RESTART = [*BEFORE, "Sound", "LetIn"]
CURED_BY_ANOTHER_HOST = [*BEFORE, "Bad", "GoesOn", "Redeployed", "Sound", "LetIn"]
GIVEN_UP = [*BEFORE, "Bad", "GoesOn", "Redeployed", "Bad", "GoesOn", "Deleted", "Gone", "Refilled", "Arrived"]
