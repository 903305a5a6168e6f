"""The GPU Operator's attention to its driver, and its host engine of DCGM as other programs read it."""

import pytest
from aks_infiniband_cli.bad_machines.evidence.dcgm.asking import HostEngine, engine_on

from rehearsal.machines.pods.behaviours import behaviours
from rehearsal.operators.gpu.attention import Attention
from rehearsal.operators.gpu.reconcile import reconcile
from rehearsal.operators.plan import labels_of
from rehearsal.operators.release import JULY_2026, release_of
from rehearsal.operators.upgrade_step import DriverKind
from tests.simulator.unit.operators.cases.families import OPERATORS, Story, begin_rollout
from tests.simulator.unit.operators.cluster import NOW, Cluster

GPU = OPERATORS["gpu"]


def test_dcgm_if_the_policy_requests_it_is_what_the_evidence_looks_for() -> None:
    story = Story(GPU)
    story.act({"policy": {"dcgm": {"enabled": True}}})
    made = reconcile(story.cluster.snapshot(), now=NOW).objects
    (template,) = (each["spec"]["template"] for each in made if each["metadata"]["name"] == "nvidia-dcgm")
    status = {"podIP": "10.244.1.7", "containerStatuses": [{"ready": True, "state": {"running": {}}}]}
    owners = [{"kind": "DaemonSet", "name": "nvidia-dcgm", "controller": True}]
    there = {"name": "nvidia-dcgm-x", "namespace": "gpu-operator", **template["metadata"], "ownerReferences": owners}
    pod = {"metadata": there, "spec": {**template["spec"], "nodeName": "gpu-0"}, "status": status}
    asked = HostEngine(pod="gpu-operator/nvidia-dcgm-x", address="10.244.1.7", image="registry/x/thing:v1")
    assert engine_on("gpu-0", [pod]) == asked
    assert [row for row, behaviour in behaviours().items() if behaviour.matches(pod)] == ["gpuHostEngine"]


def test_a_driver_that_is_ready_is_seen_two_minutes_after_the_last_change_of_a_nodes_state() -> None:
    seconds, story = [0.0], Story(GPU)
    rules = {"autoUpgrade": True, "maxParallelUpgrades": 1, "podDeletion": {}, "drain": {"enable": False}}
    begin_rollout(story, {"rules": rules, "there": {"nvidia-operator-validator": {"gpu-0": False, "gpu-1": True}}})
    attention, cluster = Attention(every=120, clock=lambda: seconds[0]), story.cluster
    node = cluster.objects["Node"]["gpu-0"]

    def state() -> str:
        cluster.obey(reconcile(cluster.snapshot(), now=NOW, attention=attention), replacing=True)
        return labels_of(node)["nvidia.com/gpu-driver-upgrade-state"]

    cluster.objects["ClusterPolicy"]["cluster-policy"]["metadata"]["generation"] = 2
    while state() != "pod-restart-required":
        pass
    state()
    cluster.pod(GPU.driver, "gpu-0", ready=True)
    seconds[0] += 119
    assert state() == "pod-restart-required", "no program watches the driver's pod"
    assert node["spec"]["unschedulable"]
    seconds[0] += 1
    assert state() == "validation-required"


@pytest.mark.parametrize(("release", "at_once"), [((26, 3), False), (JULY_2026, True)])
def test_a_node_that_is_held_back_is_noticed_at_once_from_26_7_on(release: tuple[int, int], at_once: bool) -> None:
    attention, kind, node = Attention(every=120, clock=lambda: 1.0), DriverKind(name="gpu"), Cluster().node("gpu-0")
    policy = driver = {"metadata": {"generation": 1}}
    assert attention.is_due(policy, driver, [node], kind, release)
    labels_of(node)[kind.skip_label] = "true"
    assert attention.is_due(policy, driver, [node], kind, release) is at_once


@pytest.mark.parametrize(
    ("tag", "release"), [("v26.7.0", (26, 7)), ("v26.4.1", (26, 4)), ("26.7.0-rc.2", (26, 7)), ("latest", (0, 0))]
)
def test_the_release_is_read_from_the_operators_own_image(tag: str, release: tuple[int, int]) -> None:
    deployment = Cluster().operator("network-operator", {})
    deployment["spec"]["template"]["spec"]["containers"][0]["image"] = f"mirror.example/nvidia/network-operator:{tag}"
    assert release_of(deployment) == release
