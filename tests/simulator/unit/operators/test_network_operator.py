"""The Network Operator's reconcile: from a policy to what the real operator makes of it."""

from typing import Any

import pytest

from rehearsal.operators.network.ofed import kernel_hash
from rehearsal.operators.network.reconcile import OPERATOR_LABELS, reconcile
from rehearsal.operators.plan import Plan, labels_of
from tests.simulator.unit.operators.network_policies import (
    AFFINITY,
    IMAGE,
    OFED,
    SHARED,
    WAIT,
    made,
    plan_of,
    states,
    whole,
)


def test_does_nothing_while_its_own_deployment_is_not_available(cluster: Any) -> None:
    cluster.operator("network-operator", OPERATOR_LABELS, available=False)
    cluster.node("ib-0")
    cluster.policy({"ofedDriver": IMAGE})
    assert plan_of(cluster) == Plan()


def test_policy_of_another_name_is_ignored_and_says_so(running: Any) -> None:
    running.policy({"ofedDriver": IMAGE}, name="mine")
    plan = plan_of(running)
    assert plan.objects == []
    [(_, status)] = plan.statuses
    assert status["state"] == "ignore"
    assert "Only instance with name nic-cluster-policy is supported" in status["reason"]


def test_ofed_driver_is_one_daemon_set_per_kernel_that_feature_discovery_has_seen(running: Any) -> None:
    running.node("ib-2", kernel="6.11.0-1008-azure")
    running.policy({"ofedDriver": IMAGE})
    daemon_sets = made(running)
    assert sorted(daemon_sets) == sorted([OFED, f"mofed-ubuntu24.04-{kernel_hash('6.11.0-1008-azure')}-ds"])
    pod = daemon_sets[OFED]["spec"]["template"]
    assert pod["metadata"]["labels"]["nvidia.com/ofed-driver"] == ""
    assert pod["metadata"]["labels"]["ds-owner"] == "NicClusterPolicy"
    assert pod["spec"]["nodeSelector"] == {
        "feature.node.kubernetes.io/pci-15b3.present": "true",
        "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
        "feature.node.kubernetes.io/system-os_release.VERSION_ID": "24.04",
        "feature.node.kubernetes.io/kernel-version.full": "6.8.0-1025-azure",
    }
    assert [c["name"] for c in pod["spec"]["initContainers"]] == ["network-operator-init-container"]
    assert pod["spec"]["containers"][0]["image"] == "registry/x/thing:v1-ubuntu24.04-amd64"
    assert daemon_sets[OFED]["spec"]["updateStrategy"] == {"type": "OnDelete"}


@pytest.mark.field_report("R4")
def test_a_labelled_node_with_another_kernel_that_the_policy_leaves_out_keeps_the_driver_from_being_ready(
    running: Any, settle: Any
) -> None:
    """The policy's affinity is not looked at when the sets are made, and a set without a pod is never ready."""
    running.node("web-0", kernel="5.15.0-1102-azure")
    running.policy({"ofedDriver": IMAGE, "nodeAffinity": AFFINITY})
    settle(running, reconcile)
    running.scheduled(OFED, 2)
    running.scheduled(f"mofed-ubuntu24.04-{kernel_hash('5.15.0-1102-azure')}-ds", 0)
    settle(running, reconcile)
    assert states(running)["state-OFED"] == "notReady"


@pytest.mark.parametrize(
    ("taint", "counts"),
    [
        ({"key": "sku", "value": "hpc", "effect": "NoSchedule"}, True),
        ({"key": "sku", "value": "web", "effect": "NoSchedule"}, False),
        ({"key": "CriticalAddonsOnly", "value": "true", "effect": "PreferNoSchedule"}, False),
        ({"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}, True),
        ({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}, True),
        ({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}, False),
    ],
)
def test_only_nodes_whose_taints_the_policy_tolerates_get_a_driver(running: Any, taint: Any, counts: bool) -> None:
    kernel = "6.11.0-1008-azure"
    running.node("ib-2", kernel=kernel)["spec"]["taints"] = [taint]
    running.policy({"ofedDriver": IMAGE, "tolerations": [{"key": "sku", "operator": "Equal", "value": "hpc"}]})
    assert (f"mofed-ubuntu24.04-{kernel_hash(kernel)}-ds" in made(running)) == counts


def test_ofed_state_is_not_ready_while_no_node_shows_an_adapter(cluster: Any) -> None:
    cluster.operator("network-operator", OPERATOR_LABELS)
    cluster.node("ib-0", nic=False)
    cluster.policy({"ofedDriver": IMAGE})
    plan = plan_of(cluster)
    cluster.obey(plan)
    assert plan.objects == []
    assert states(cluster)["state-OFED"] == "notReady"
    assert whole(cluster) == "notReady"


def test_policy_affinity_and_tolerations_reach_every_daemon_set(running: Any) -> None:
    toleration = {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}
    parts = {"ofedDriver": IMAGE, "rdmaSharedDevicePlugin": SHARED, "docaTelemetryService": IMAGE, "nvIpam": IMAGE}
    running.policy({**parts, "nodeAffinity": AFFINITY, "tolerations": [toleration]})
    daemon_sets = made(running)
    assert len(daemon_sets) == 4
    for document in daemon_sets.values():
        pod = document["spec"]["template"]["spec"]
        assert pod["affinity"]["nodeAffinity"] == AFFINITY
        assert toleration in pod["tolerations"]
        assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in pod["tolerations"]


def test_device_plugins_run_only_where_the_driver_is_in_place(running: Any) -> None:
    running.policy({"rdmaSharedDevicePlugin": SHARED, "sriovDevicePlugin": SHARED})
    for document in made(running).values():
        assert document["spec"]["template"]["spec"]["nodeSelector"] == {
            "feature.node.kubernetes.io/pci-15b3.present": "true",
            WAIT: "false",
        }


def test_device_plugin_mounts_the_config_map_with_the_policy_s_own_text(running: Any) -> None:
    running.policy({"rdmaSharedDevicePlugin": {**SHARED, "config": "as it is"}})
    assert made(running, "ConfigMap")["rdma-devices"]["data"] == {"config.json": "as it is"}
    [volume] = [
        v for v in made(running)["rdma-shared-dp-ds"]["spec"]["template"]["spec"]["volumes"] if "configMap" in v
    ]
    assert volume["configMap"]["name"] == "rdma-devices"


def test_a_device_plugin_s_configuration_is_written_compact_where_it_is_json(running: Any) -> None:
    running.policy({"rdmaSharedDevicePlugin": {**SHARED, "config": '{\n  "configList": []\n}'}})
    assert made(running, "ConfigMap")["rdma-devices"]["data"] == {"config.json": '{"configList":[]}'}


def test_everything_goes_with_the_policy_that_owns_it(running: Any) -> None:
    policy = running.policy({"ofedDriver": IMAGE, "rdmaSharedDevicePlugin": SHARED})
    for document in plan_of(running).objects:
        [owner] = document["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["uid"]) == ("NicClusterPolicy", policy["metadata"]["uid"])
        assert document["metadata"]["namespace"] == "network-operator"


def test_part_that_leaves_the_policy_leaves_the_cluster(running: Any, settle: Any) -> None:
    policy = running.policy({"rdmaSharedDevicePlugin": SHARED, "docaTelemetryService": IMAGE})
    settle(running, reconcile)
    policy["spec"] = {"rdmaSharedDevicePlugin": SHARED}
    settle(running, reconcile)
    assert set(running.objects["DaemonSet"]) == {"rdma-shared-dp-ds"}
    assert set(running.objects["ConfigMap"]) == {"rdma-devices"}
    assert states(running)["state-doca-telemetry-service"] == "ignore"


def test_node_waits_until_its_own_driver_pod_is_ready(running: Any, settle: Any) -> None:
    running.policy({"ofedDriver": IMAGE})
    settle(running, reconcile)
    running.pod(OFED, "ib-0", ready=True)
    running.pod(OFED, "ib-1", ready=False)
    settle(running, reconcile)
    nodes = running.objects["Node"]
    assert labels_of(nodes["ib-0"])[WAIT] == "false"
    assert labels_of(nodes["ib-1"])[WAIT] == "true"
    assert WAIT not in labels_of(nodes["system-0"])


def test_no_node_waits_for_a_driver_that_the_policy_does_not_ask_for(running: Any, settle: Any) -> None:
    running.policy({"rdmaSharedDevicePlugin": SHARED})
    settle(running, reconcile)
    assert labels_of(running.objects["Node"]["ib-0"])[WAIT] == "false"
    assert WAIT not in labels_of(running.objects["Node"]["system-0"])


def test_all_applied_states_are_named_in_the_operator_s_order(running: Any, settle: Any) -> None:
    running.policy({"rdmaSharedDevicePlugin": SHARED})
    settle(running, reconcile)
    assert list(states(running)) == [
        "state-multus-cni",
        "state-container-networking-plugins",
        "state-ipoib-cni",
        "state-OFED",
        "state-SRIOV-device-plugin",
        "state-RDMA-device-plugin",
        "state-ib-kubernetes",
        "state-nv-ipam-cni",
        "state-nic-feature-discovery",
        "state-doca-telemetry-service",
        "state-nic-configuration-operator",
        "state-spectrum-x-operator",
    ]
    assert {name for name, state in states(running).items() if state != "ignore"} == {"state-RDMA-device-plugin"}


@pytest.mark.parametrize(
    ("desired", "ready", "updated", "state"),
    [(2, 2, 2, "ready"), (2, 1, 2, "notReady"), (2, 2, 1, "notReady"), (0, 0, 0, "notReady"), (1, 1, 1, "ready")],
)
def test_part_is_ready_when_all_pods_there_are_to_be_are(
    running: Any, settle: Any, desired: int, ready: int, updated: int, state: str
) -> None:
    running.policy({"rdmaSharedDevicePlugin": SHARED})
    settle(running, reconcile)
    running.scheduled("rdma-shared-dp-ds", desired, ready, updated)
    settle(running, reconcile)
    assert states(running)["state-RDMA-device-plugin"] == state
    assert whole(running) == state


def test_changed_policy_is_not_ready_before_the_daemon_set_controller_has_seen_the_change(
    running: Any, settle: Any
) -> None:
    policy = running.policy({"rdmaSharedDevicePlugin": SHARED})
    settle(running, reconcile)
    running.scheduled("rdma-shared-dp-ds", 2)
    settle(running, reconcile)
    assert whole(running) == "ready"
    policy["spec"] = {"rdmaSharedDevicePlugin": {**SHARED, "version": "v2"}}
    settle(running, reconcile)
    assert whole(running) == "notReady"


def test_missing_version_is_an_error_that_names_the_part_and_the_key(running: Any, settle: Any) -> None:
    running.policy({"rdmaSharedDevicePlugin": {"image": "thing", "repository": "r"}})
    settle(running, reconcile)
    status = running.objects["NicClusterPolicy"]["nic-cluster-policy"]["status"]
    assert status["state"] == "error"
    assert status["reason"] == "rdmaSharedDevicePlugin: version missing; set it there or in spec.global"


def test_images_take_what_they_do_not_say_from_global(running: Any) -> None:
    running.policy({"rdmaSharedDevicePlugin": {"image": "dp"}, "global": {"repository": "mirror", "version": "v7"}})
    [container] = made(running)["rdma-shared-dp-ds"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "mirror/dp:v7"


def test_the_label_stays_as_it_was_on_a_node_that_says_nothing_any_more(running: Any, settle: Any) -> None:
    """The node lifecycle controller says of the pod that it is not ready; no program says so of its container."""
    running.policy({"ofedDriver": IMAGE})
    settle(running, reconcile)
    running.pod(OFED, "ib-0", ready=True)
    settle(running, reconcile)
    status = running.objects["Pod"][f"{OFED}-ib-0"]["status"]
    status["conditions"] = [{"type": "Ready", "status": "False"}]
    settle(running, reconcile)
    assert labels_of(running.objects["Node"]["ib-0"])[WAIT] == "false"
    status["containerStatuses"][0]["ready"] = False
    settle(running, reconcile)
    assert labels_of(running.objects["Node"]["ib-0"])[WAIT] == "true"


def test_a_node_waits_while_the_pod_of_a_driver_that_is_no_longer_asked_for_is_there(running: Any, settle: Any) -> None:
    policy = running.policy({"ofedDriver": IMAGE})
    settle(running, reconcile)
    running.pod(OFED, "ib-0", ready=True)
    settle(running, reconcile)
    policy["spec"] = {"rdmaSharedDevicePlugin": SHARED}
    settle(running, reconcile)
    assert labels_of(running.objects["Node"]["ib-0"])[WAIT] == "true"
    del running.objects["Pod"][f"{OFED}-ib-0"]
    settle(running, reconcile)
    assert labels_of(running.objects["Node"]["ib-0"])[WAIT] == "false"
