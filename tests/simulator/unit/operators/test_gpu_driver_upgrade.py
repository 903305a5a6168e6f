"""The GPU Operator's upgrade of its driver, from one node to the next."""

from typing import Any

import pytest

from rehearsal.operators.gpu.attention import Attention
from rehearsal.operators.gpu.reconcile import reconcile
from rehearsal.operators.plan import labels_of
from tests.simulator.unit.operators.gpu_policies import NOW, SPEC, apply_policy

DRIVER = "nvidia-driver-daemonset"
UPGRADE = "nvidia.com/gpu-driver-upgrade-state"


@pytest.fixture
def upgrading(with_gpus: Any, settle: Any) -> Any:
    """Two nodes whose driver's template has just changed, under the chart's own rules."""
    rules = {
        "autoUpgrade": True,
        "maxParallelUpgrades": 1,
        "maxUnavailable": "25%",
        "podDeletion": {"force": False, "timeoutSeconds": 300, "deleteEmptyDir": True},
        "drain": {"enable": False},
    }
    with_gpus.node("gpu-1", gpu=True)
    apply_policy(with_gpus, driver={**SPEC["driver"], "upgradePolicy": rules})
    with_gpus.obey(reconcile(with_gpus.snapshot(), now=NOW))
    with_gpus.revision(DRIVER, 1)
    for name in ("gpu-0", "gpu-1"):
        with_gpus.pod(DRIVER, name, ready=True)
        with_gpus.pod("nvidia-operator-validator", name, ready=name == "gpu-1")
    settle(with_gpus, reconcile)
    with_gpus.revision(DRIVER, 2)
    return with_gpus


def through(cluster: Any, steps: int = 12) -> list[str]:
    """States that gpu-0 goes through."""
    seen: list[str] = []
    for _ in range(steps):
        plan = reconcile(cluster.snapshot(), now=NOW)
        cluster.obey(plan)
        for pod in plan.deletions:
            cluster.pod(DRIVER, pod["spec"]["nodeName"], ready=True, revision="hash-2")
        state = labels_of(cluster.objects["Node"]["gpu-0"])[UPGRADE]
        if not seen or seen[-1] != state:
            seen.append(state)
    return seen


def test_a_driver_upgrade_deletes_pods_that_hold_gpus_and_waits_for_the_validator(upgrading: Any) -> None:
    gpus = {"resources": {"limits": {"nvidia.com/gpu": 8}}}
    upgrading.workload("training", "gpu-0", container=gpus, volumes=[{"name": "dshm", "emptyDir": {}}])
    upgrading.workload("exporter", "gpu-0")
    assert through(upgrading) == [
        "upgrade-required",
        "cordon-required",
        "wait-for-jobs-required",
        "pod-deletion-required",
        "pod-restart-required",
        "validation-required",
    ]
    assert "training" not in upgrading.objects["Pod"]
    assert "exporter" in upgrading.objects["Pod"], "no node is drained whose pods with GPUs can be deleted"
    assert labels_of(upgrading.objects["Node"]["gpu-1"])[UPGRADE] == "upgrade-required", "one node at a time"
    upgrading.pod("nvidia-operator-validator", "gpu-0", ready=True)
    assert through(upgrading)[:2] == ["uncordon-required", "upgrade-done"]
    assert not upgrading.objects["Node"]["gpu-0"]["spec"].get("unschedulable")


def test_a_pod_that_cannot_be_deleted_fails_the_upgrade_where_no_drain_follows(upgrading: Any) -> None:
    gpus = {"resources": {"limits": {"nvidia.com/gpu": 8}}}
    upgrading.workload("alone", "gpu-0", controlled=False, container=gpus)
    assert through(upgrading)[-1] == "upgrade-failed"
    assert "alone" in upgrading.objects["Pod"]


def test_a_node_is_drained_where_a_pod_with_gpus_cannot_be_deleted(upgrading: Any) -> None:
    rules = {**upgrading.objects["ClusterPolicy"]["cluster-policy"]["spec"]["driver"]["upgradePolicy"]}
    apply_policy(
        upgrading, driver={**SPEC["driver"], "upgradePolicy": {**rules, "drain": {"enable": True, "force": True}}}
    )
    gpus = {"resources": {"limits": {"nvidia.com/gpu": 8}}}
    upgrading.workload("alone", "gpu-0", controlled=False, container=gpus)
    upgrading.workload("beside", "gpu-0")
    assert "drain-required" in through(upgrading)
    assert "beside" not in upgrading.objects["Pod"]


def test_a_driver_that_is_ready_is_seen_two_minutes_after_the_last_change_of_a_nodes_state(upgrading: Any) -> None:
    seconds = [0.0]
    attention = Attention(every=120, clock=lambda: seconds[0])
    node = upgrading.objects["Node"]["gpu-0"]

    def look() -> str:
        plan = reconcile(upgrading.snapshot(), now=NOW, attention=attention)
        upgrading.obey(plan)
        for pod in plan.deletions:
            upgrading.pod(DRIVER, pod["spec"]["nodeName"], ready=False, revision="hash-2")
        return str(labels_of(node)[UPGRADE])

    upgrading.objects["ClusterPolicy"]["cluster-policy"]["metadata"]["generation"] = 2
    while look() != "pod-restart-required":
        pass
    look()
    upgrading.pod(DRIVER, "gpu-0", ready=True, revision="hash-2")
    seconds[0] += 119
    assert look() == "pod-restart-required", "nobody watches the driver's pod"
    assert node["spec"]["unschedulable"]
    seconds[0] += 1
    assert look() == "validation-required"


def test_another_chart_version_rolls_the_driver_and_the_policy_is_ready_before_all_nodes_have_it(
    upgrading: Any, settle: Any
) -> None:
    """The pods of the template before carry another helm.sh/chart, and are not looked at."""
    policy = upgrading.objects["ClusterPolicy"]["cluster-policy"]
    policy["spec"]["daemonsets"] = {"labels": {"helm.sh/chart": "gpu-operator-v2"}}
    upgrading.obey(reconcile(upgrading.snapshot(), now=NOW))
    assert upgrading.objects["DaemonSet"][DRIVER]["spec"]["template"]["metadata"]["labels"]["helm.sh/chart"] == (
        "gpu-operator-v2"
    )
    for name in upgrading.objects["DaemonSet"]:
        upgrading.scheduled(name, 2)
    upgrading.obey(reconcile(upgrading.snapshot(), now=NOW))
    assert policy["status"]["state"] == "notReady"
    upgrading.pod(DRIVER, "gpu-0", ready=True, revision="hash-2")
    upgrading.obey(reconcile(upgrading.snapshot(), now=NOW))
    assert policy["status"]["state"] == "ready"
    assert labels_of(upgrading.objects["Pod"][f"{DRIVER}-gpu-1"])["controller-revision-hash"] == "hash-1"


def test_nodes_with_gpus_are_marked_while_the_operator_upgrades_their_driver(upgrading: Any, settle: Any) -> None:
    mark = "nvidia.com/gpu-driver-upgrade-enabled"
    node = upgrading.objects["Node"]["gpu-0"]["metadata"]
    assert node["annotations"][mark] == "true"
    upgrading.objects["ClusterPolicy"]["cluster-policy"]["spec"]["driver"]["upgradePolicy"]["autoUpgrade"] = False
    settle(upgrading, reconcile)
    assert mark not in node["annotations"]
