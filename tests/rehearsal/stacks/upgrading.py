"""The tools of a cluster's upgrade, and the state of its nodes meanwhile."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from lightkube.resources.core_v1 import Pod
from lightkube.resources.policy_v1 import PodDisruptionBudget

from .conftest import Stack

COMMAND: Final = str(Path(sys.executable).with_name("aks-infiniband"))
NAMESPACE: Final = "aks-infiniband-system"
IMAGE: Final = "kubernetes.azure.com/node-image-version"


@contextmanager
def upgrading(stack: Stack, *flags: str) -> Iterator["subprocess.Popen[str]"]:
    """The command, in a shell of the rehearsal."""
    words = " ".join([COMMAND, "upgrade", "-s", stack.rehearsal.stack, "--output", "json", *flags])
    shell = ["bash", "-c", f". {stack.activation()} && exec {words}"]
    pipe = subprocess.PIPE
    with subprocess.Popen(shell, cwd=stack.file.parent, stdout=pipe, stderr=pipe, text=True) as command:
        try:
            yield command
        finally:
            command.kill()


def upgrade(stack: Stack, *flags: str, code: int = 0) -> dict[str, Any]:
    """The command's output when it has ended."""
    with upgrading(stack, *flags) as command:
        said, complained = command.communicate(timeout=600)
    assert command.returncode == code, complained
    found: dict[str, Any] = json.loads(said)
    return found


def images(stack: Stack, pool: str) -> dict[str, str]:
    """Each node's image."""
    return {
        node["metadata"]["name"]: node["metadata"]["labels"][IMAGE]
        for node in sorted(stack.nodes(agentpool=pool), key=lambda node: str(node["metadata"]["name"]))
    }


def holds(stack: Stack) -> list[str]:
    """The nodes that the command holds, and its budgets."""
    where: dict[str, Any] = {
        "namespace": NAMESPACE,
        "labels": {"app.kubernetes.io/managed-by": "aks-infiniband-upgrade"},
    }
    pods = [pod.to_dict()["spec"]["nodeName"] for pod in stack.cluster().list(Pod, **where)]
    return sorted([*pods, *("budget" for _ in stack.cluster().list(PodDisruptionBudget, **where))])
