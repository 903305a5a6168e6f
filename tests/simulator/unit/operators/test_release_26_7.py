"""The differences of the stand-ins of 26.7 from those of 26.4 and 26.3; an operator's own image shows its release."""

from typing import Any

import pytest

from rehearsal.operators.gpu import reconcile as gpu
from rehearsal.operators.gpu.attention import Attention
from rehearsal.operators.network.reconcile import reconcile
from rehearsal.operators.plan import Plan, labels_of
from rehearsal.operators.release import JULY_2026, release_of
from rehearsal.operators.upgrade_step import DriverKind
from tests.simulator.unit.operators.gpu_policies import NOW, apply_policy
from tests.simulator.unit.operators.network_policies import IMAGE, OFED, SHARED

LATER = "2026-01-01T00:05:00Z"
DRIVER = "nvidia-driver-daemonset"


def of_release(cluster: Any, operator: str, tag: str) -> None:
    (container,) = cluster.objects["Deployment"][operator]["spec"]["template"]["spec"]["containers"]
    container["image"] = f"mirror.example/nvidia/{operator}:{tag}"


@pytest.mark.parametrize(
    ("tag", "release"), [("v26.7.0", (26, 7)), ("v26.4.1", (26, 4)), ("26.7.0-rc.2", (26, 7)), ("latest", (0, 0))]
)
def test_the_release_is_read_from_the_operators_own_image(running: Any, tag: str, release: tuple[int, int]) -> None:
    of_release(running, "network-operator", tag)
    assert release_of(running.objects["Deployment"]["network-operator"]) == release


def conditions(cluster: Any) -> dict[str, tuple[str, str]]:
    (policy,) = cluster.objects["NicClusterPolicy"].values()
    return {held["type"]: (held["status"], held["reason"]) for held in policy["status"].get("conditions", [])}


def test_a_nic_policy_has_a_condition_for_every_part_that_it_asks_for_and_one_for_the_whole(
    running: Any, settle: Any
) -> None:
    running.policy({"ofedDriver": IMAGE, "rdmaSharedDevicePlugin": SHARED})
    settle(running, reconcile)
    assert conditions(running) == {}, "26.4 writes none"
    of_release(running, "network-operator", "v26.7.0")
    settle(running, reconcile)
    assert conditions(running) == {
        "OFEDDriverReady": ("False", "ComponentNotReady"),
        "RDMASharedDevicePluginReady": ("False", "ComponentNotReady"),
        "Ready": ("False", "ComponentsNotReady"),
    }
    running.scheduled(OFED, 2)
    running.scheduled("rdma-shared-dp-ds", 2)
    settle(running, reconcile)
    assert conditions(running)["Ready"] == ("True", "AllComponentsReady")
    assert running.objects["NicClusterPolicy"]["nic-cluster-policy"]["status"]["state"] == "ready"


def test_a_condition_keeps_the_time_at_which_it_came_to_be_so(running: Any) -> None:
    of_release(running, "network-operator", "v26.7.0")
    policy = running.policy({"ofedDriver": IMAGE})
    for now in (NOW, LATER):
        running.obey(reconcile(running.snapshot(), now=now))
    assert {held["lastTransitionTime"] for held in policy["status"]["conditions"]} == {NOW}


@pytest.fixture
def later(with_gpus: Any) -> Any:
    of_release(with_gpus, "gpu-operator", "v26.7.0")
    return with_gpus


def test_the_gpu_operator_does_nothing_until_its_new_definition_is_there(later: Any) -> None:
    apply_policy(later)
    assert gpu.reconcile(later.snapshot(), now=NOW) == Plan()
    later.add({"kind": "CustomResourceDefinition", "metadata": {"name": "gpuclusters.nvidia.com"}})
    assert gpu.reconcile(later.snapshot(), now=NOW) != Plan()


def test_its_nodes_have_one_label_more_and_its_driver_another_path_of_the_machine(later: Any) -> None:
    apply_policy(later)
    later.add({"kind": "CustomResourceDefinition", "metadata": {"name": "gpuclusters.nvidia.com"}})
    plan = gpu.reconcile(later.snapshot(), now=NOW)
    assert plan.node_labels["gpu-0"]["nvidia.com/gpu.deploy.client"] == "true"
    (driver,) = [made for made in plan.objects if made["kind"] == "DaemonSet" and made["metadata"]["name"] == DRIVER]
    volumes = {volume["name"] for volume in driver["spec"]["template"]["spec"]["volumes"]}
    assert "host-sys-devices-system" in volumes
    assert "sysfs-memory-online" not in volumes


@pytest.mark.parametrize(("release", "at_once"), [((26, 3), False), (JULY_2026, True)])
def test_a_node_that_is_held_back_is_noticed_at_once_from_26_7_on(
    with_gpus: Any, release: tuple[int, int], at_once: bool
) -> None:
    attention, kind = Attention(every=120, clock=lambda: 1.0), DriverKind(name="gpu")
    node = with_gpus.objects["Node"]["gpu-0"]
    policy = driver = {"metadata": {"generation": 1}}
    assert attention.is_due(policy, driver, [node], kind, release)
    labels_of(node)[kind.skip_label] = "true"
    assert attention.is_due(policy, driver, [node], kind, release) is at_once
