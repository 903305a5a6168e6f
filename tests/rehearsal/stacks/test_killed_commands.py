"""`aks-infiniband upgrade` and `rollout` are killed at five moments each: the next one ends what was begun, and the one
after it changes nothing. The tests follow one another.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Pod

from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.waiting import eventually

from .conftest import Stack
from .rolling import NIC_POLICIES, driver_images, let_go, rollout
from .upgrading import NAMESPACE, holds, upgrade, upgrading

pytestmark = pytest.mark.long
STACK = "hbv4"
UPGRADE: Final = ("--to", "1.36")
UPGRADE_SAYS: Final = (
    "control plane southcentralus, to",
    "pool system, to",
    "measured pool hbv4, to",
    "AKS drains and reimages",
    "is accepted (1 of 2)",
)
"""The output of the command when it is killed."""
_HELD: Final = "aks-infiniband/held-by-rollout"


def kubelets(stack: Stack) -> set[str]:
    return {node["status"]["nodeInfo"]["kubeletVersion"] for node in stack.nodes()}


def held(stack: Stack) -> list[str]:
    """The nodes that a rollout holds back."""
    marked = [node for node in stack.nodes() if _HELD in (node["metadata"].get("annotations") or {})]
    return sorted(str(node["metadata"]["name"]) for node in marked)


@pytest.mark.parametrize("line", UPGRADE_SAYS)
def test_an_upgrade_is_killed(stack: Stack, brought_up: Outcome, line: str) -> None:
    with upgrading(stack, *UPGRADE) as command:
        assert command.stderr is not None
        said = list[str]()
        for told in command.stderr:
            said.append(told)
            if line in told:
                break
        else:
            pytest.fail(f"it never said {line}: {said}")
        command.kill()


def test_the_next_upgrade_ends_it_and_the_one_after_it_changes_nothing(stack: Stack, brought_up: Outcome) -> None:
    found = upgrade(stack, *UPGRADE)
    assert found["accepted"] is True
    assert (kubelets(stack), holds(stack)) == ({"v1.36.3"}, [])
    assert not any(node["spec"].get("unschedulable") for node in stack.nodes())
    again = upgrade(stack, *UPGRADE)
    assert again["plan"]["steps"] == [], "nothing is left to do"
    updated = stack.up()
    assert updated.succeeded, updated.said
    assert stack.verdicts() == {"hbv4": "pass"}


def _is_back(node: dict[str, Any]) -> bool:
    """True if the driver of before the last rollout is no longer being replaced, and the node offers its resources."""
    state = node["metadata"]["labels"].get("nvidia.com/ofed-driver-upgrade-state")
    return state in (None, "", "upgrade-done") and node["status"]["allocatable"].get("rdma/shared_ib") == "63"


def _measuring(stack: Stack) -> list[str]:
    """Pods of a measurement that have not ended."""
    pods = [pod.to_dict() for pod in stack.cluster().list(Pod, namespace=NAMESPACE)]
    names = {pod["metadata"]["name"]: pod.get("status", {}).get("phase") for pod in pods}
    return [name for name, phase in names.items() if "-again-" in name and phase not in ("Succeeded", "Failed")]


def _jobs(stack: Stack) -> int:
    return len(list(stack.cluster().list(Job, namespace=NAMESPACE)))


Moment = Callable[[Stack, dict[str, str], int], bool]
MOMENTS: Final[dict[str, tuple[bool, Moment]]] = {
    "a node is held": (False, lambda stack, before, jobs: len(held(stack)) == 1),
    "the update begins": (True, lambda stack, before, jobs: True),
    "the first node's driver goes": (True, lambda stack, before, jobs: driver_images(stack) != before),
    "the first node is measured": (True, lambda stack, before, jobs: _jobs(stack) > jobs),
    "the others are let go": (True, lambda stack, before, jobs: held(stack) == []),
}
"""True if an update with another driver continues then, and the sign in the cluster that it is time."""


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_rollout_is_killed_and_what_it_holds_goes_on_when_it_is_let_go(
    stack: Stack, brought_up: Outcome, moment: str
) -> None:
    updates, is_time = MOMENTS[moment]
    before, jobs = driver_images(stack), _jobs(stack)
    first, other = sorted(before)
    eventually(lambda: not any(node["spec"].get("unschedulable") for node in stack.nodes()), seconds=300)
    eventually(lambda: all(_is_back(node) for node in stack.nodes(agentpool=STACK)), seconds=300)
    # The measurement of a rollout that was killed before continues to its end, and its nodes are busy until then.
    eventually(lambda: not _measuring(stack), seconds=300)
    version = f"doca3.5.0-26.07-0.1.0.0-{list(MOMENTS).index(moment)}"
    with ThreadPoolExecutor() as beside, rollout(stack, "--first", first) as gate:
        updated: Any = None
        try:
            if updates:
                assert gate.stderr is not None
                assert gate.stderr.readline().startswith("Held back: 1 of 2 nodes")
                stack.settings(networkOperator={"mode": "rdma-shared", "driverVersion": version})
                updated = beside.submit(
                    stack.run, "up", *(word for kind in NIC_POLICIES for word in ("--target", kind))
                )
            eventually(lambda: is_time(stack, before, jobs), seconds=300)
        finally:
            gate.kill()
            still = held(stack)
            kept = driver_images(stack).get(other)
            released = let_go(stack, "--release")
    assert released == still
    if still:
        assert (still, kept) == ([other], before[other]), (
            "what is held keeps its driver, whatever becomes of the command"
        )
    if updates:
        assert updated.result().succeeded, updated.result().said
        eventually(lambda: [version in image for image in driver_images(stack).values()] == [True] * 2, seconds=300)
    assert (let_go(stack, "--release"), held(stack)) == ([], [])


def test_the_next_up_measures_the_pool_and_the_one_after_it_changes_nothing(stack: Stack, brought_up: Outcome) -> None:
    updated = stack.up()
    assert updated.succeeded, updated.said
    assert stack.verdicts() == {"hbv4": "pass"}
    again = stack.up()
    assert (again.succeeded, again.changed) == (True, {})
