"""A cluster that was made by hand, by Azure's public guide: all that is there stays theirs, whatever is tried."""

from typing import Final

import pytest

from rehearsal.control_plane import the_only_command
from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.engine_runs import Outcome, run
from tests.rehearsal.existing import by_hand
from tests.rehearsal.stacks.conftest import Stack
from tests.rehearsal.waiting import eventually

STACK: Final = "existing"
THEIRS: Final = (
    "Namespace network-operator (made by ",
    "Namespace gpu-operator (made by ",
    "Helm release network-operator/network-operator (deployed)",
    "Helm release gpu-operator/gpu-operator (deployed)",
    "NicClusterPolicy nic-cluster-policy (made by kubectl-client-side-apply)",
    "ClusterPolicy cluster-policy (made by Helm release gpu-operator/gpu-operator)",
    "set aks-infiniband:gpuOperator.existing: true",
)


@pytest.fixture(scope="module")
def stack(rehearse_ours: RehearseOurs, tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """The project's stack for a cluster that somebody else made, in a cluster where both operators are."""
    theirs = rehearse_ours(STACK)
    by_hand.make(theirs, tmp_path_factory.mktemp("by-hand"))
    assert any("mofed" in name for name in by_hand.pods(theirs))
    return theirs


def made(outcome: Outcome) -> list[str]:
    return [step.name for step in outcome.steps if step.changed and step.custom]


@pytest.mark.parametrize("command", ["preview", "up"])
def test_each_object_is_named_with_its_maker_and_the_setting_and_nothing_is_made(stack: Stack, command: str) -> None:
    before = by_hand.pods(stack)
    refused = stack.run(command)
    assert not refused.succeeded
    assert [words for words in THEIRS if words not in refused.errors] == [], refused.errors
    assert made(refused) == []
    assert by_hand.pods(stack) == before


@pytest.mark.parametrize("time", ["first", "second"])
def test_a_destroy_leaves_every_pod(stack: Stack, time: str) -> None:
    before = by_hand.pods(stack)
    if time == "second":
        assert not stack.up().succeeded
    destroyed = stack.destroy()
    assert destroyed.succeeded, destroyed.said
    assert by_hand.pods(stack) == before


def test_a_destroy_after_a_kill_leaves_every_pod(stack: Stack) -> None:
    before, rehearsal = by_hand.pods(stack), stack.rehearsal
    engine = rehearsal.engine()
    with the_only_command(rehearsal.run):
        under_way = engine.run("up", "--yes", "--skip-preview")
        begun = under_way.event_log
        eventually(lambda: begun.exists() and "RdmaSoftware" in begun.read_text(), seconds=120)
        under_way.process.kill()
        under_way.process.wait()
        rehearsal.recover(engine)
        destroyed = run(engine, "destroy")
    assert destroyed.succeeded, destroyed.said
    assert by_hand.pods(stack) == before
