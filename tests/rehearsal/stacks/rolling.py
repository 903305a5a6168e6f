"""Drivers that roll out one node first, at the same time as an update, and the driver of each node."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from lightkube.resources.core_v1 import Pod

from tests.rehearsal.engine_runs import Outcome

from .conftest import Stack

COMMAND: Final = str(Path(sys.executable).with_name("aks-infiniband"))
GPU_OPERATOR: Final = ("**:Release::rdma-gpu-operator",)
NIC_POLICIES: Final = ("**rdma-nic-*",)
NETWORK_OPERATOR: Final = ("**:Release::rdma-network-operator", *NIC_POLICIES)
"""The resources that are updated alone, while a rollout holds nodes back: docs/rollout.md."""


def driver_images(stack: Stack) -> dict[str, str]:
    """The OFED driver's image on each node."""
    return _images(stack, "network-operator", {"nvidia.com/ofed-driver": ""})


def gpu_driver_images(stack: Stack) -> dict[str, str]:
    """The GPU driver's image on each node."""
    return _images(stack, "gpu-operator", {"app": "nvidia-driver-daemonset"})


def _images(stack: Stack, namespace: str, labels: dict[str, str]) -> dict[str, str]:
    pods = stack.cluster().list(Pod, namespace=namespace, labels={**labels})
    found: list[dict[str, Any]] = [pod.to_dict() for pod in pods]
    placed = (pod["spec"] for pod in found if "nodeName" in pod["spec"])  # a new one does not have a node yet
    return {spec["nodeName"]: spec["containers"][0]["image"] for spec in placed}


def rollout(stack: Stack, *flags: str) -> "subprocess.Popen[str]":
    where = ("--kubeconfig", str(stack.rehearsal.run.kubeconfig), "--output", "json")
    pipe = subprocess.PIPE
    return subprocess.Popen([COMMAND, "rollout", *where, *flags], stdout=pipe, stderr=pipe, text=True)


def let_go(stack: Stack, how: str) -> list[str]:
    """The nodes that were held until now."""
    with rollout(stack, how) as released:
        said, complained = released.communicate(timeout=300)
    assert released.returncode == 0, complained
    found: list[str] = json.loads(said)["released"]
    return found


@contextmanager
def rolling_out(
    stack: Stack, targets: Sequence[str], *flags: str, fault: dict[str, Any] | None = None
) -> Iterator[tuple[dict[str, Any], "Future[Outcome]"]]:
    """The command's output on an update of `targets`, which begins as soon as nodes are held, and the update.

    fault: what the first node has from then on.
    """
    with ExitStack() as broken, ThreadPoolExecutor() as pool, rollout(stack, *flags) as gate:
        try:
            assert gate.stderr is not None
            held = gate.stderr.readline()
            assert held.startswith("Held back: 1 of 2 nodes. Now change"), held
            if fault:
                broken.enter_context(stack.broken(**fault))
            updated = pool.submit(stack.run, "up", *(word for target in targets for word in ("--target", target)))
            said, complained = gate.communicate(timeout=400)
            assert said, complained
            found = json.loads(said)
            assert gate.returncode == int(not found["accepted"])
            yield found, updated
        finally:
            gate.kill()
            broken.close()
            let_go(stack, "--release")
