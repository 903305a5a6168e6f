"""A data centre per module, and programs that differ from the project's own in one thing."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from aks_infiniband.stack.pool_outputs import pod_templates
from aks_infiniband_cli.stack_file import configuration_of, stack_of
from lightkube.resources.core_v1 import Event, Node, Pod

from rehearsal.outcome.reports import reports_of
from rehearsal.testing.stack import TEST_SPEED as SPEED
from rehearsal.testing.stack import Outcome, RehearsedStack
from rehearsal.tools.paths import PROJECT

__all__ = ["SPEED", "Stack", "copy_of_project", "doctor"]
AKSS_NAMES = {"mlx5_"}
"""On AKS's nodes, HCAs and Ethernet alike; on Azure's HPC images it is mlx5_ib and mlx5_an."""


class Stack(RehearsedStack):
    """A copy of a program of ours whose stack file, or program, a test may change."""

    def settings(self, **changes: Any) -> None:
        """Change settings under `aks-infiniband:`."""
        document = yaml.safe_load(self.file.read_text())
        for key, value in changes.items():
            document["config"][f"aks-infiniband:{key}"] = value
        self.file.write_text(yaml.safe_dump(document))

    def change(self, **changes: Any) -> Outcome:
        """Change settings under `aks-infiniband:`, and bring the stack up: it does what its preview has said."""
        self.settings(**changes)
        planned = self.preview()
        assert planned.succeeded, planned.said
        done = self.up()
        assert done.succeeded, done.said
        assert done.plan == planned.plan
        return done

    def report(self, pool: str) -> dict[str, Any]:
        """The findings of a pool's validation, as a whole."""
        found: dict[str, Any] = reports_of(self.outputs(), self.rehearsal.engine().deployment())[pool]
        return found

    def workload(self, pool: str) -> dict[str, Any]:
        """The output of `aks-infiniband workload` for a pool, for the stack as it is rehearsed."""
        rehearsed = configuration_of(self.rehearsal.engine_as_it_is().stack_file)
        with chdir(self.rehearsal.project):
            stack = stack_of(self.file, rehearsed)
        return pod_templates(stack, next(found for found in stack.pools if found.name == pool))

    def verdicts(self) -> dict[str, str]:
        """Each validated pool's verdict."""
        pools = self.outputs()["pools"]
        return {name: pool["validation"]["verdict"] for name, pool in pools.items() if "validation" in pool}

    def rdma_devices(self) -> set[str]:
        """The names of the RDMA devices of the machines that ran a Job, without their numbers."""
        found = self.rehearsal.run.machines.glob("*/sys/class/infiniband/*")
        return {path.name.rstrip("0123456789") for path in found}

    def nodes(self, **labels: str) -> list[dict[str, Any]]:
        """The nodes with these labels (`__` stands for a slash), as plain documents."""
        wanted: dict[str, Any] = {key.replace("__", "/"): value for key, value in labels.items()}
        return [node.to_dict() for node in self.cluster().list(Node, labels=wanted)]

    def pulls(self, component: str) -> dict[str, set[str]]:
        """The images pulled for each pod of ours that plays a part, by the pod's node."""
        cluster, labels = self.cluster(), dict[str, Any]({"app.kubernetes.io/component": component})
        pods = [pod.to_dict() for pod in cluster.list(Pod, namespace=SYSTEM_NAMESPACE, labels=labels)]
        events = [event.to_dict() for event in cluster.list(Event, namespace=SYSTEM_NAMESPACE)]
        return {
            pod["spec"]["nodeName"]: {
                event["message"].split('"')[1]
                for event in events
                if event["reason"] == "Pulled" and event["involvedObject"]["uid"] == pod["metadata"]["uid"]
            }
            for pod in pods
        }

    def privileged(self) -> list[tuple[str, str]]:
        """Name and state of every privileged container in our own namespace."""
        found = list[tuple[str, str]]()
        for pod in (pod.to_dict() for pod in self.cluster().list(Pod, namespace=SYSTEM_NAMESPACE)):
            containers = (*pod["spec"].get("initContainers", []), *pod["spec"]["containers"])
            privileged = {box["name"] for box in containers if box.get("securityContext", {}).get("privileged")}
            statuses = (*pod["status"].get("initContainerStatuses", []), *pod["status"]["containerStatuses"])
            states = {status["name"]: state for status in statuses for state in status["state"]}
            found += [(name, states[name]) for name in sorted(privileged)]
        return found


def doctor(kubeconfig: Path) -> dict[str, Any]:
    """The output of `aks-infiniband doctor` for a cluster, as JSON; its exit code fits."""
    command = [str(Path(sys.executable).with_name("aks-infiniband")), "doctor", "--kubeconfig", str(kubeconfig)]
    done = subprocess.run([*command, "--output", "json"], check=False, capture_output=True, text=True, timeout=180)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert bool(found["findings"]) == (done.returncode == 1)
    return found


def copy_of_project(folder: Path) -> Path:
    """The project as a person has it, without what was built or installed."""
    folder.mkdir(parents=True)
    for path in (PROJECT / "__main__.py", *PROJECT.glob("Pulumi*.yaml")):
        shutil.copy(path, folder)
    shutil.copytree(PROJECT / "values", folder / "values")
    return folder


@pytest.fixture(scope="module")
def stack(request: pytest.FixtureRequest, rehearse_ours: Callable[..., Stack]) -> Stack:
    """The stack that the module names as STACK, in a data centre that the module's tests share."""
    return rehearse_ours(request.module.STACK)


@pytest.fixture(scope="module")
def brought_up(stack: Stack) -> Outcome:
    """The stack, up from nothing."""
    outcome = stack.up()
    assert outcome.succeeded, outcome.said
    assert stack.rdma_devices() == AKSS_NAMES
    return outcome
