"""A cluster that is upgraded by `aks-infiniband upgrade`, measured machine by machine. The tests follow one another."""

import re

import pytest
import yaml

from rehearsal.azure.cloud import NODE_IMAGE_RELEASE
from rehearsal.tools.paths import PROJECT
from tests.rehearsal.engine_runs import Outcome

from .conftest import Stack
from .upgrading import holds, images, upgrade, upgrading

pytestmark = pytest.mark.long
STACK = "hbv4"


def of_the_page() -> list[list[str]]:
    """The flags of the commands whose transcripts the page shows."""
    page = (PROJECT / "docs" / "upgrade.md").read_text()
    return [line.split() for line in re.findall(rf"^\$ aks-infiniband upgrade -s {STACK} (.*)$", page, re.MULTILINE)]


UPGRADE, NODE_IMAGE = of_the_page()


def kubelets(stack: Stack) -> dict[str, str]:
    return {node["metadata"]["name"]: node["status"]["nodeInfo"]["kubeletVersion"] for node in stack.nodes()}


def versions(stack: Stack) -> list[str]:
    """The versions in the stack file: the cluster's, and those of pools that are behind."""
    config = yaml.safe_load(stack.file.read_text())["config"]
    pools = [pool.get("kubernetesVersion") for pool in config["aks-infiniband:pools"]]
    return [config["aks-infiniband:cluster"]["kubernetesVersion"], *filter(None, pools)]


def test_the_plan_changes_nothing_and_says_what_breaks(stack: Stack, brought_up: Outcome) -> None:
    found = upgrade(stack, *UPGRADE, "--dry-run")["plan"]
    assert [(step["kind"], step["name"], step["machines"]) for step in found["steps"]] == [
        ("control plane", "southcentralus", 0),
        ("pool", "system", 2),
        ("measured pool", "hbv4", 2),
    ]
    assert any("OFED and GPU driver are built for the kernel" in line for line in found["breaks"])
    assert (versions(stack), holds(stack)) == (["1.35"], [])


def test_a_command_that_is_killed_leaves_the_next_machine_held_and_goes_on_when_it_is_started_again(
    stack: Stack, brought_up: Outcome
) -> None:
    with upgrading(stack, *UPGRADE) as command:
        assert command.stderr is not None
        for line in command.stderr:
            if "is accepted (1 of 2)" in line:
                break
        command.kill()
    accepted, other = sorted(images(stack, STACK))
    assert (kubelets(stack)[accepted], kubelets(stack)[other]) == ("v1.36.3", "v1.35.8")
    assert other in holds(stack)
    assert versions(stack) == ["1.36"], "as Azure has it, for cluster and pool"
    found = upgrade(stack, *UPGRADE)
    assert (found["accepted"], found["done"]) == (True, ["measured pool hbv4"])
    assert set(kubelets(stack).values()) == {"v1.36.3"}
    assert (versions(stack), holds(stack)) == (["1.36"], [])


def test_the_next_up_changes_no_machine_and_measures_the_pool_and_the_one_after_it_changes_nothing(
    stack: Stack, brought_up: Outcome
) -> None:
    before = {node["metadata"]["uid"] for node in stack.nodes()}
    noted = stack.up()
    assert noted.succeeded, noted.said
    assert {name: how for name, how in noted.changed.items() if name.split()[0] in ("ManagedCluster", "AgentPool")} == {
        "ManagedCluster rdma": "update",
        "AgentPool rdma-hbv4": "update",
    }
    assert {node["metadata"]["uid"] for node in stack.nodes()} == before
    assert stack.verdicts() == {"hbv4": "pass"}
    again = stack.up()
    assert (again.succeeded, again.changed) == (True, {})


def test_a_driver_that_does_not_come_up_on_the_new_kernel_stops_it_at_the_first_machine_and_the_pool_goes_back(
    stack: Stack, brought_up: Outcome
) -> None:
    before = images(stack, STACK)
    (stack.rehearsal.run.azure / NODE_IMAGE_RELEASE).write_text("209912.01.0")
    stack.fault("crash", pod="mofed-*", node="*vmss000000", message="no headers for this kernel")
    found = upgrade(stack, *NODE_IMAGE, code=1)["stopped"]
    first, (other,) = found["node"], found["held"]
    assert any(short.startswith("rdma/shared_ib 0, expected at least 1") for short in found["shortfalls"])
    assert any("mofed-" in short and "CrashLoopBackOff" in short for short in found["shortfalls"])
    assert (images(stack, STACK)[first] == before[first], images(stack, STACK)[other] == before[other]) == (False, True)
    (kept,) = [node for node in stack.nodes() if node["metadata"]["name"] == other]
    assert not kept["spec"].get("unschedulable"), "jobs still come to the machine that was not upgraded"
    assert kept["status"]["allocatable"]["rdma/shared_ib"] == "63"
    stack.mend()
    told = upgrade(stack, "--back")["back"]
    assert told == [f"pool hbv4 has Kubernetes 1.36.3 and {before[first]} again"]
    assert (images(stack, STACK), holds(stack)) == (before, [])
