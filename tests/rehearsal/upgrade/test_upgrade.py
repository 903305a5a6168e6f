"""A user's stack `dev`, as an earlier release left it, brought to today's program: nothing is made again.

The latest release's deployment was recorded (README.md in this folder explains it): its data centre is started by hand,
because the recorded objects have to be there before Azure and the machines start. Every release's is also made by its
own program, from its commit. The tests follow one another in each.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from lightkube.resources.core_v1 import Namespace, Node, Pod

from declared.recording import label
from rehearsal.control_plane import RunFolder
from rehearsal.session import Rehearsal
from rehearsal.testing.stack import rehearsing
from tests.recordings.identity import unnamed
from tests.recordings.programs import CHANGELOG
from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.stacks.conftest import Stack, copy_of_project
from tests.rehearsal.upgrade.deployment import SPEED, STACK, put_back, put_state_back
from tests.rehearsal.upgrade.releases import project_of, released_versions
from tests.rehearsal.waiting import eventually

OTHER_SIZE = {"name": "ndh100", "vmSize": "Standard_ND96isr_H200_v5", "count": 2}
RECORDED = "recorded"
MADE_ANEW = ("kubernetes:batch/v1:Job::", "pulumi:index:Stash::")
"""A validation is a new Job whenever something has changed on which it depends, and proves its report again."""


FROM_COMMITS = [pytest.param(version, marks=pytest.mark.long) for version in released_versions()]


@pytest.fixture(scope="module", params=[RECORDED, *FROM_COMMITS])
def deployed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The deployment of a release, and today's program."""
    folder = tmp_path_factory.mktemp("deployed")
    if request.param != RECORDED:
        yield from _deployed_by_its_program(request.param, folder)
        return
    project = copy_of_project(folder / "project")
    rehearsal = Rehearsal(project=project, stack=STACK, run=RunFolder.at(folder / "run"), speed=SPEED)
    with put_back(rehearsal.run) as check:
        put_state_back(rehearsal.engine(), rehearsal.run)
        yield Stack(rehearsal)
        check()


def _deployed_by_its_program(version: str, folder: Path) -> Iterator[Stack]:
    """The stack file stays that of the release when today's program takes the place of the older one."""
    old = project_of(version, folder / "old")
    with rehearsing(old, STACK, folder=folder, speed=SPEED) as rehearsed:
        stack = Stack(rehearsed.rehearsal)
        outcome = stack.up()
        assert outcome.succeeded, outcome.said
        copy_of_project(folder / "new")
        shutil.copy(folder / "new" / "__main__.py", stack.file.parent)
        shutil.copytree(folder / "new" / "values", stack.file.parent / "values", dirs_exist_ok=True)
        yield stack


@dataclass(frozen=True)
class Before:
    """The state before the update: the machines' names, each namespace's UID, and the GPU drivers."""

    machines: set[str]
    namespaces: dict[str, str]
    gpu_drivers: list[list[str]]


@pytest.fixture(scope="module")
def before(deployed: Stack) -> Before:
    # A pod of a machine that came back late is replaced first.
    eventually(lambda: len(gpu_drivers(deployed)) == 2)
    return Before(machines(deployed), namespaces(deployed), gpu_drivers(deployed))


@pytest.fixture(scope="module")
def updated(deployed: Stack, before: Before) -> Outcome:
    """The update to today's program."""
    outcome = deployed.up()
    assert outcome.succeeded, outcome.said
    return outcome


def machines(stack: Stack) -> set[str]:
    """By name: a new version of Kubernetes gives a machine a new system, and its Node a new UID."""
    return {str(node.metadata.name) for node in stack.cluster().list(Node) if node.metadata}


def namespaces(stack: Stack) -> dict[str, str]:
    found = [space.metadata for space in stack.cluster().list(Namespace) if space.metadata]
    return {str(metadata.name): str(metadata.uid) for metadata in found}


def gpu_drivers(stack: Stack) -> list[list[str]]:
    """The containers of each node's GPU driver."""
    pods = stack.cluster().list(Pod, namespace="gpu-operator", labels={"app": "nvidia-driver-daemonset"})
    return [[container["name"] for container in pod.to_dict()["spec"]["containers"]] for pod in pods]


def lost(outcome: Outcome) -> set[str]:
    """Type and name of what is deleted or replaced, and may not be."""
    gone = {label(step.urn) for step in outcome.steps if step.changed and is_loss(step.operation)}
    return {resource for resource in gone if not resource.startswith(MADE_ANEW)}


def is_loss(operation: str) -> bool:
    return "replace" in operation or operation == "delete"


def test_the_update_deletes_and_replaces_only_what_the_changelog_names(updated: Outcome) -> None:
    assert unnamed(lost(updated), CHANGELOG.read_text()) == set()


def test_nothing_that_is_there_is_taken_for_new(updated: Outcome) -> None:
    made = {label(step.urn) for step in updated.steps if step.operation == "create"}
    assert not made & {"azure-native:containerservice:ManagedCluster::rdma", "pulumi:providers:kubernetes::rdma"}


def test_the_machines_and_namespaces_are_those_of_before(deployed: Stack, before: Before, updated: Outcome) -> None:
    assert len(before.machines) == 4
    assert machines(deployed) == before.machines
    assert namespaces(deployed) == before.namespaces


def test_the_pool_is_validated_after_the_update(deployed: Stack, updated: Outcome) -> None:
    assert deployed.verdicts() == {"ndh100": "pass"}


def test_the_gpu_drivers_are_those_of_before(deployed: Stack, before: Before, updated: Outcome) -> None:
    eventually(lambda: gpu_drivers(deployed) == before.gpu_drivers, seconds=300)


def test_a_second_update_changes_nothing(deployed: Stack, updated: Outcome) -> None:
    assert deployed.preview().changed == {}


def test_a_change_that_replaces_the_pool_is_seen(deployed: Stack, updated: Outcome) -> None:
    deployed.settings(pools=[OTHER_SIZE])
    assert lost(deployed.preview()) == {"azure-native:containerservice:AgentPool::rdma-ndh100"}
