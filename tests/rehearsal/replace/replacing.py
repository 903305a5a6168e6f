"""`aks-infiniband replace` on a rehearsed pool, as a person runs it."""

import json
import os
import shlex
import subprocess
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml
from aks_infiniband_cli.machine_by_machine.replace.quarantine import is_in_quarantine
from lightkube.resources.core_v1 import Node

from tests.rehearsal.stacks.conftest import SPEED, Stack

LIMIT_SECONDS = 1800
UNBOUNDED = ("--a-day", "50", "--at-once", "16")
"""All tests happen on one day, and one that fails leaves its machine to the others' budget."""
MACHINES = os.environ.get("REPLACE_MACHINES")
"""Another number of machines, for who tries something."""


@dataclass
class Fleet:
    """A stack with one pool that is validated. pool: as AKS calls it; count: of its machines."""

    stack: Stack
    pool: str
    count: int

    def command(self, *arguments: str) -> "subprocess.Popen[str]":
        """The command, begun."""
        command = shlex.join(["aks-infiniband", "replace", *arguments, "--output", "json"])
        return subprocess.Popen(
            ["bash", "-c", f"{self.entered} && exec {command}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def entered(self) -> str:
        """The command by which a shell enters the rehearsal."""
        return f". {shlex.quote(str(self.stack.activation()))}"

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
        """A node of the pool that is there now: each test takes another one."""
        return self.names()[number % self.count]

    def is_whole(self) -> bool:
        """True if the pool has all machines, all of them may be used, and the program finds nothing to do."""
        nodes = [node.to_dict() for node in self.stack.cluster().list(Node)]
        held = [node for node in nodes if is_in_quarantine(node) or node["spec"].get("unschedulable")]
        return len(self.names()) == self.count and not held and not self.stack.preview().changed


def fleet(stack: Stack, *, machines: int) -> Fleet:
    """A stack with one pool, brought up with so many machines."""
    count = int(MACHINES or machines)
    (declared,) = yaml.safe_load(stack.file.read_text())["config"]["aks-infiniband:pools"]
    stack.settings(pools=[{**declared, "count": count}])
    done = stack.up()
    assert done.succeeded, done.said
    return Fleet(stack, declared["name"], count)


def steps(case: dict[str, Any]) -> list[str]:
    """The actions, in order."""
    return [line["step"] for line in case["lines"]]


def tell(what: str, case: dict[str, Any]) -> None:
    """The timeline for docs/replace.md, with `pytest -s`: simulated minutes since the case began."""
    began = datetime.fromisoformat(case["lines"][0]["at"])
    for line in case["lines"]:
        minutes = (datetime.fromisoformat(line["at"]) - began).total_seconds() * SPEED / 60
        print(f"{what} | {minutes:5.0f} | {line['step']} | {line['what']}")


BEFORE = ["Quarantined", "Emptied", "EvidenceKept", "Restarted"]
"""The actions on every machine."""
CURED_BY_RESTART = [*BEFORE, "Sound", "LetIn"]
CURED_BY_ANOTHER_HOST = [*BEFORE, "Bad", "GoesOn", "Redeployed", "Sound", "LetIn"]
GIVEN_UP = [*BEFORE, "Bad", "GoesOn", "Redeployed", "Bad", "GoesOn", "Deleted", "Gone", "Refilled", "Arrived"]
