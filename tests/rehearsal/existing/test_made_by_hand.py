"""A cluster that was made by hand, by Azure's public guide: all that is there stays theirs, whatever is tried."""

import json
from typing import Final

import pytest
import yaml
from lightkube.resources.core_v1 import Namespace

from rehearsal.control_plane import ENVIRONMENT_VARIABLE, the_only_command
from rehearsal.engine.pulumi import Engine
from rehearsal.tools.paths import PROJECT
from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.engine_runs import engine_on, run
from tests.rehearsal.existing import by_hand
from tests.rehearsal.stacks.conftest import Stack
from tests.rehearsal.waiting import eventually

STACK: Final = "existing"
ALONE: Final = "any-cluster"
"""The example program that uses the components alone."""
THEIRS: Final = (
    "Namespace network-operator (made by ",
    "Namespace gpu-operator (made by ",
    "Helm release network-operator/network-operator (deployed)",
    "Helm release gpu-operator/gpu-operator (deployed)",
    "NicClusterPolicy nic-cluster-policy (made by kubectl-client-side-apply)",
    "ClusterPolicy cluster-policy (made by Helm release gpu-operator/gpu-operator)",
    "set aks-infiniband:gpuOperator.existing: true",
    "set aks-infiniband:networkOperator.existing: true",
)


@pytest.fixture(scope="module")
def stack(rehearse_ours: RehearseOurs, tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """The project's stack for a cluster that somebody else made, in a cluster where both operators are."""
    theirs = rehearse_ours(STACK)
    by_hand.make(theirs, tmp_path_factory.mktemp("by-hand"))
    assert any("mofed" in name for name in by_hand.pods(theirs))
    return theirs


def in_cluster(stack: Stack) -> set[str]:
    """Every namespace, and every pod of the operators and of what they run, by its UID."""
    names = {str(found.to_dict()["metadata"]["name"]) for found in stack.cluster().list(Namespace)}
    return {*names, *(f"{name} {uid}" for name, uid in by_hand.pods(stack).items())}


@pytest.fixture(scope="module")
def alone(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """That program, for the same cluster."""
    file = yaml.safe_load((PROJECT / "examples" / ALONE / "Pulumi.lab.yaml").read_text())["config"]
    pool = {"nodeSelector": {"example.com/fabric": "ndh100"}, "taints": ["sku=gpu:NoSchedule"]}
    changed = {
        "aks-infiniband:existingCluster": {"kubeconfig": str(stack.rehearsal.run.kubeconfig)},
        "aks-infiniband:pools": [{**file["aks-infiniband:pools"][0], **pool}],
    }
    return engine_on(
        PROJECT / "examples" / ALONE,
        folder=tmp_path_factory.mktemp("alone"),
        stack="lab",
        environment={ENVIRONMENT_VARIABLE: str(stack.rehearsal.run.root)},
        config={key: json.dumps(value) for key, value in {**file, **changed}.items()},
    )


@pytest.mark.parametrize("command", ["preview", "up"])
@pytest.mark.parametrize("program", [STACK, ALONE])
def test_each_object_is_named_with_its_maker_and_the_setting_and_nothing_is_made(
    stack: Stack, alone: Engine, program: str, command: str
) -> None:
    before = in_cluster(stack)
    refused = stack.run(command) if program == STACK else run(alone, command)
    assert not refused.succeeded
    assert [words for words in THEIRS if words not in refused.errors] == [], refused.errors
    assert in_cluster(stack) == before


@pytest.mark.parametrize("time", ["first", "second"])
@pytest.mark.parametrize("program", [STACK, ALONE])
def test_a_destroy_leaves_every_pod(stack: Stack, alone: Engine, program: str, time: str) -> None:
    before = in_cluster(stack)
    engine = stack.rehearsal.engine() if program == STACK else alone
    if time == "second":
        assert not run(engine, "up").succeeded
    destroyed = run(engine, "destroy")
    assert destroyed.succeeded, destroyed.said
    assert in_cluster(stack) == before


@pytest.mark.parametrize(("program", "begins"), [(STACK, "rdma-system"), (ALONE, "network-operator")])
def test_a_destroy_after_a_kill_leaves_every_pod(stack: Stack, alone: Engine, program: str, begins: str) -> None:
    """begins: what the update has begun when it is killed."""
    before, rehearsal = in_cluster(stack), stack.rehearsal
    engine = rehearsal.engine() if program == STACK else alone
    with the_only_command(rehearsal.run):
        under_way = engine.run("up", "--yes", "--skip-preview")
        begun = under_way.event_log
        eventually(lambda: begun.exists() and begins in begun.read_text(), seconds=120)
        under_way.process.kill()
        under_way.process.wait()
        rehearsal.recover(engine)
        destroyed = run(engine, "destroy")
    assert destroyed.succeeded, destroyed.said
    assert in_cluster(stack) == before


@pytest.mark.long
def test_with_both_operators_kept_by_others_a_kill_and_a_destroy_leave_every_pod_and_the_pool_passes(
    stack: Stack,
) -> None:
    """The last of the module: it changes the stack file."""
    before, rehearsal = in_cluster(stack), stack.rehearsal
    operators = {"existing": True}
    stack.settings(networkOperator={**operators, "nodePreparation": True}, gpuOperator=operators)
    engine = rehearsal.engine()
    with the_only_command(rehearsal.run):
        under_way = engine.run("up", "--yes", "--skip-preview")
        eventually(lambda: "aks-infiniband-system" in in_cluster(stack), seconds=120)
        under_way.process.kill()
        under_way.process.wait()
        rehearsal.recover(engine)
        destroyed = run(engine, "destroy")
    assert destroyed.succeeded, destroyed.said
    assert in_cluster(stack) == before
    up = stack.up()
    assert up.succeeded, up.said
    assert stack.verdicts() == {"ndh100": "pass"}
    assert stack.up().changed == {}
    assert stack.destroy().succeeded
    assert in_cluster(stack) == before
