"""A cluster that was made by hand, by Azure's public guide: all that is there stays theirs, whatever is tried."""

import json
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
import yaml
from aks_infiniband.validation.access_documents import RBAC
from aks_infiniband_cli.validate.unmanaged.rights import needed
from lightkube.generic_resource import create_global_resource
from lightkube.resources.core_v1 import Namespace, Pod

from rehearsal.control_plane import ENVIRONMENT_VARIABLE, the_only_command
from rehearsal.engine.pulumi import Engine
from rehearsal.tools.paths import PROJECT
from tests.rehearsal import tenant
from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.engine_runs import engine_on, run
from tests.rehearsal.existing import by_hand
from tests.rehearsal.existing.without_a_stack import (
    FABRIC,
    READS,
    brought,
    command,
    everything,
    login,
    printed,
    validate,
    words,
)
from tests.rehearsal.shell import shell
from tests.rehearsal.stacks.conftest import Stack, doctor
from tests.rehearsal.waiting import eventually
from tests.unit.command_line.test_validate_without_a_stack import a_plan

STACK: Final = "existing"
ALONE: Final = "any-cluster"
"""The example program that uses the components alone."""
NicClusterPolicy = create_global_resource("mellanox.com", "v1alpha1", "NicClusterPolicy", "nicclusterpolicies")
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
    """The project's stack for a cluster that others made, in a cluster with both operators."""
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


def test_adopt_describes_it_with_both_operators_theirs(stack: Stack, tmp_path: Path) -> None:
    said = json.loads(shell(stack.rehearsal, "aks-infiniband adopt lab --output json", folder=tmp_path))
    assert [Path(file).name for file in said["files"]] == ["Pulumi.lab.yaml"]
    assert (said["left"], said["first"]) == ([], [])
    config = yaml.safe_load((tmp_path / "Pulumi.lab.yaml").read_text())["config"]
    operator = {"existing": True, "mode": "rdma-shared", "nodePreparation": True}
    assert config["aks-infiniband:networkOperator"] == operator
    assert config["aks-infiniband:gpuOperator"] == {"existing": True}
    (pool,) = config["aks-infiniband:pools"]
    assert (pool["count"], pool["taints"]) == (2, ["sku=gpu:NoSchedule"])


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


def kill_an_up_and_destroy(stack: Stack, engine: Engine, begun: Callable[[Path], bool]) -> None:
    """begun: true of the log of the update's events when it is to be killed."""
    before, rehearsal = in_cluster(stack), stack.rehearsal
    with the_only_command(rehearsal.run):
        under_way = engine.run("up", "--yes", "--skip-preview")
        eventually(lambda: begun(under_way.event_log), seconds=120)
        under_way.process.kill()
        under_way.process.wait()
        rehearsal.recover(engine)
        destroyed = run(engine, "destroy")
    assert destroyed.succeeded, destroyed.said
    assert in_cluster(stack) == before


@pytest.mark.parametrize(("program", "begins"), [(STACK, "rdma-system"), (ALONE, "network-operator")])
def test_a_destroy_after_a_kill_leaves_every_pod(stack: Stack, alone: Engine, program: str, begins: str) -> None:
    """begins: what the update has begun when it is killed."""
    engine = stack.rehearsal.engine() if program == STACK else alone
    kill_an_up_and_destroy(stack, engine, lambda log: log.exists() and begins in log.read_text())


def test_one_machine_is_looked_at_without_a_stack_and_all_that_was_brought_is_gone(
    stack: Stack, tmp_path: Path
) -> None:
    """By a user who has exactly the rights of the page."""
    before, pods = everything(stack), by_hand.pods(stack)
    with login(stack, tmp_path, [*READS, *needed(a_plan().brought)]) as kubeconfig:
        flags = ("--kubeconfig", str(kubeconfig), "--selector", FABRIC, "--node", "ndh100-0")
        found = validate(stack, *flags, code=3)
    (pool,) = found["pools"].values()
    assert (pool["verdict"], pool["nodes"], pool["left_out"]) == ("not measured", ["ndh100-0"], [])
    assert "hca-rate" in pool["kinds"]
    size = {"vm_size": "Standard_ND96isr_H100_v5", "mode": "rdma-shared"}
    resources = {"rdma_resource": "rdma/shared_ib", "gpu_resource": "nvidia.com/gpu"}
    because = "nodes offer rdma/shared_ib, told by NicClusterPolicy nic-cluster-policy"
    assert pool["without_stack"] == {**size, **resources, "because": because}
    assert everything(stack) == before
    assert by_hand.pods(stack).items() >= pods.items(), "no pod of theirs is gone or another"


def test_who_lacks_a_right_is_told_which_and_nothing_is_made(stack: Stack, tmp_path: Path) -> None:
    all_but_one = [right for right in needed(a_plan().brought) if str(right) != f"create clusterroles.{RBAC}"]
    with login(stack, tmp_path, [*READS, *all_but_one]) as kubeconfig:
        before = everything(stack)
        flags = ("validate", "--kubeconfig", str(kubeconfig), "--selector", FABRIC)
        refused = command(stack, *flags, code=2)
        assert f"your login may not create clusterroles.{RBAC}. An administrator" in refused.stderr
        assert everything(stack) == before


@pytest.mark.long
def test_a_pool_passes_without_a_stack_and_a_bad_machine_is_named_cordoned_and_has_evidence(
    stack: Stack, tmp_path: Path
) -> None:
    before, kept = everything(stack), tmp_path / "measured.json"
    (pool,) = validate(stack, "--selector", FABRIC, code=0)["pools"].values()
    assert (pool["verdict"], len(pool["nodes"]), pool["left_out"]) == ("pass", 2, [])
    assert {"rdma-write-bandwidth", "all-reduce"} <= set(pool["kinds"])
    with stack.broken("half-rate", node="ndh100-1", device="mlx5_5"):
        found = validate(stack, "--selector", FABRIC, "--cordon", "--out", str(kept), code=1)
    assert json.loads(kept.read_text()) == found
    assert list(found["cordoned"]) == ["ndh100-1"]
    why = found["cordoned"]["ndh100-1"]
    assert "hca-rate (mlx5_5)" in why
    told = [each for each in doctor(stack.rehearsal.run.kubeconfig)["findings"] if each["object"] == "node ndh100-1"]
    assert ([each["symptom"] for each in told], why in told[0]["cause"]) == (["node-cordoned"], True)
    file = tmp_path / "evidence.json"
    ticket = command(stack, "evidence", "ndh100-1", "--report", str(kept), "--out", str(file), code=0).stdout
    assert "hca-rate (mlx5_5)" in ticket.partition("What is wrong:")[2].partition("\n\n")[0]
    evidence = json.loads(file.read_text())
    assert evidence["physical_host_name"]
    assert len(evidence["hcas"]) == 8
    assert "pool ndh100: fail" in printed("report", "--report", str(kept), "--out", str(tmp_path), code=1)
    assert list(validate(stack, "--uncordon", "--selector", FABRIC, code=0)["uncordoned"]) == ["ndh100-1"]
    with suppress(AssertionError):  # the taint of a cordon goes after it
        eventually(lambda: everything(stack) == before)
    assert everything(stack) == before


@pytest.mark.long
def test_what_a_tenant_makes_to_look_like_an_operators_is_not_taken_for_it(stack: Stack, tmp_path: Path) -> None:
    """The tenant has `edit` in a namespace of the API server."""
    node = "ndh100-0"
    before, seen = by_hand.pods(stack), doctor(stack.rehearsal.run.kubeconfig)["findings"]
    theirs = tenant.tenant(stack)
    policy = stack.cluster().get(NicClusterPolicy, "nic-cluster-policy").metadata
    assert policy
    owner = {"apiVersion": "mellanox.com/v1alpha1", "kind": "NicClusterPolicy", "name": policy.name, "uid": policy.uid}
    failed = tenant.pod("raise SystemExit(1)", nodeName=node, restartPolicy="Never")
    running = tenant.pod("import time; time.sleep(600)")
    tenant.create(theirs, "Job", "mofed", spec={"backoffLimit": 0, "template": tenant.template(tenant.OFED, failed)})
    labels = tenant.HOST_ENGINE
    uid = tenant.create(
        theirs,
        *("DaemonSet", "nvidia-dcgm"),
        metadata={"ownerReferences": [{**owner, "controller": True}]},
        spec={"selector": {"matchLabels": labels}, "template": tenant.template(labels, running)},
    )
    of_it = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "nvidia-dcgm", "uid": uid, "controller": True}
    tenant.create(
        theirs,
        *("Pod", "nvidia-dcgm-forged"),
        metadata={"labels": labels, "ownerReferences": [of_it]},
        spec={**running, "nodeName": node},
    )
    tenant.repair(theirs, node, tenant.TEAM)

    def are_there() -> bool:
        found = [each.to_dict() for each in stack.cluster().list(Pod, namespace=tenant.TEAM)]
        return {(each["spec"].get("nodeName"), each["status"]["phase"]) for each in found} >= {
            (node, "Failed"),
            (node, "Running"),
        }

    eventually(are_there, seconds=120)
    assert doctor(stack.rehearsal.run.kubeconfig)["findings"] == seen
    file = tmp_path / "evidence.json"
    command(stack, "evidence", node, "--out", str(file), code=0)
    assert "no pod nvidia-dcgm runs on the node" in file.read_text()
    assert by_hand.pods(stack).items() >= before.items()
    stack.cluster().delete(Namespace, tenant.TEAM)
    eventually(lambda: f"Namespace {tenant.TEAM}" not in everything(stack))


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_who_stops_a_run_finds_nothing_of_it_in_the_cluster(stack: Stack, how: signal.Signals) -> None:
    before, pods = everything(stack), by_hand.pods(stack)
    stopped = subprocess.Popen(words(stack, "validate", "--selector", FABRIC))
    eventually(lambda: len(brought(stack)) == 3, seconds=60)
    stopped.send_signal(how)
    assert stopped.wait(timeout=120) == 130
    assert {name for name in brought(stack) if name.startswith("Namespace")} == set()
    eventually(lambda: everything(stack) == before)  # what reaches beyond a namespace goes after it
    assert by_hand.pods(stack).items() >= pods.items(), "no pod of theirs is gone or another"


@pytest.mark.long
def test_what_a_killed_run_left_is_deleted_by_the_next(stack: Stack) -> None:
    before, pods = everything(stack), by_hand.pods(stack)
    killed = subprocess.Popen(words(stack, "validate", "--selector", FABRIC))
    eventually(lambda: len(brought(stack)) == 3, seconds=60)
    killed.kill()
    killed.wait()
    assert len(brought(stack)) == 3
    again = command(stack, "validate", "--selector", FABRIC, code=0)
    assert "a run that was killed had left namespace aks-infiniband-run-" in again.stderr
    eventually(lambda: everything(stack) == before)
    assert by_hand.pods(stack).items() >= pods.items(), "no pod of theirs is gone or another"


@pytest.mark.long
def test_with_both_operators_kept_by_others_a_kill_and_a_destroy_leave_every_pod_and_the_pool_passes(
    stack: Stack,
) -> None:
    """The last of the module: it changes the stack file."""
    before = in_cluster(stack)
    operators = {"existing": True}
    stack.settings(networkOperator={**operators, "nodePreparation": True}, gpuOperator=operators)
    kill_an_up_and_destroy(stack, stack.rehearsal.engine(), lambda _: "aks-infiniband-system" in in_cluster(stack))
    up = stack.up()
    assert up.succeeded, up.said
    assert stack.verdicts() == {"ndh100": "pass"}
    assert stack.up().changed == {}
    assert stack.destroy().succeeded
    assert in_cluster(stack) == before
