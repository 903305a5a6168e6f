"""NicNodePolicies: the objects of each for its own nodes, next to others and to the cluster's policy."""

from typing import Any

import pytest

from rehearsal.operators.network.reconcile import OPERATOR_LABELS, reconcile
from rehearsal.operators.plan import labels_of
from tests.simulator.unit.operators.network_policies import IMAGE, OFED, SHARED, WAIT, made, plan_of


def node_policy(cluster: Any, name: str, selector: dict[str, str], **spec: Any) -> Any:
    return cluster.policy({"nodeSelector": selector, **spec}, kind="NicNodePolicy", name=name)


@pytest.fixture
def pools(cluster: Any) -> Any:
    """Two pools of one node each."""
    cluster.operator("network-operator", OPERATOR_LABELS)
    for pool in ("hb", "nd"):
        cluster.node(f"{pool}-0")["metadata"]["labels"]["agentpool"] = pool
    return cluster


def test_node_policies_make_what_their_own_nodes_need_under_names_of_their_own(pools: Any) -> None:
    node_policy(pools, "hb", {"agentpool": "hb"}, rdmaSharedDevicePlugin=SHARED, ofedDriver=IMAGE)
    node_policy(pools, "nd", {"agentpool": "nd"}, sriovDevicePlugin=SHARED)
    ofed = OFED.replace("-ds", "-hb-ds")
    daemon_sets = made(pools)
    assert sorted(daemon_sets) == sorted([ofed, "rdma-shared-dp-ds-hb", "network-operator-sriov-device-plugin-nd"])
    assert sorted(made(pools, "ConfigMap")) == [
        "network-operator-sriovdp-config-nd",
        "ofed-init-container-config",
        "rdma-devices-hb",
    ]
    for name, pool in ((ofed, "hb"), ("network-operator-sriov-device-plugin-nd", "nd")):
        template = daemon_sets[name]["spec"]["template"]
        assert template["metadata"]["labels"]["ds-owner"] == f"nnp-{pool}"
        assert template["spec"]["nodeSelector"]["agentpool"] == pool
        assert daemon_sets[name]["metadata"]["ownerReferences"][0]["kind"] == "NicNodePolicy"


def test_a_node_policy_has_the_three_states_that_it_can_ask_for(pools: Any, settle: Any) -> None:
    policy = node_policy(pools, "hb", {"agentpool": "hb"}, rdmaSharedDevicePlugin=SHARED)
    settle(pools, reconcile)
    assert [(part["name"], part["state"]) for part in policy["status"]["appliedStates"]] == [
        ("state-OFED", "ignore"),
        ("state-RDMA-device-plugin", "notReady"),
        ("state-SRIOV-device-plugin", "ignore"),
    ]
    pools.scheduled("rdma-shared-dp-ds-hb", 1)
    settle(pools, reconcile)
    assert policy["status"]["state"] == "ready"


def test_node_policies_that_share_a_node_are_both_in_error_and_make_nothing(pools: Any, settle: Any) -> None:
    both = [node_policy(pools, "hb", {"agentpool": "hb"}, ofedDriver=IMAGE), node_policy(pools, "all", {})]
    assert made(pools) == {}
    settle(pools, reconcile)
    for policy in both:
        assert policy["status"]["state"] == "error"
        assert 'node "hb-0" is selected by policies: [all, hb]' in policy["status"]["reason"]


def test_the_same_section_in_both_kinds_is_carried_out_twice_and_drivers_keep_one_another_off(
    pools: Any, settle: Any
) -> None:
    pools.policy({"ofedDriver": IMAGE, "rdmaSharedDevicePlugin": SHARED})
    node_policy(pools, "hb", {"agentpool": "hb"}, ofedDriver=IMAGE)
    daemon_sets = made(pools)
    assert {OFED, OFED.replace("-ds", "-hb-ds")} <= set(daemon_sets)
    for name in (OFED, OFED.replace("-ds", "-hb-ds")):
        (term,) = daemon_sets[name]["spec"]["template"]["spec"]["affinity"]["podAntiAffinity"][
            "requiredDuringSchedulingIgnoredDuringExecution"
        ]
        assert term["labelSelector"]["matchExpressions"] == [{"key": "nvidia.com/ofed-driver", "operator": "Exists"}]


def test_part_that_leaves_one_policy_leaves_the_others_alone(pools: Any, settle: Any) -> None:
    node_policy(pools, "hb", {"agentpool": "hb"}, rdmaSharedDevicePlugin=SHARED)
    policy = node_policy(pools, "nd", {"agentpool": "nd"}, rdmaSharedDevicePlugin=SHARED)
    settle(pools, reconcile)
    del policy["spec"]["rdmaSharedDevicePlugin"]
    settle(pools, reconcile)
    assert set(pools.objects["DaemonSet"]) == {"rdma-shared-dp-ds-hb"}
    assert set(pools.objects["ConfigMap"]) == {"rdma-devices-hb"}


def test_a_pool_with_the_driver_waits_for_it_and_a_pool_without_does_not(pools: Any, settle: Any) -> None:
    pools.policy({"rdmaSharedDevicePlugin": SHARED})
    node_policy(pools, "nd", {"agentpool": "nd"}, ofedDriver=IMAGE)
    settle(pools, reconcile)
    nodes = pools.objects["Node"]
    assert (labels_of(nodes["hb-0"]).get(WAIT), labels_of(nodes["nd-0"]).get(WAIT)) == ("false", None)
    pools.pod(OFED.replace("-ds", "-nd-ds"), "nd-0", ready=False)
    settle(pools, reconcile)
    assert labels_of(nodes["nd-0"])[WAIT] == "true"
    pools.pod(OFED.replace("-ds", "-nd-ds"), "nd-0", ready=True)
    settle(pools, reconcile)
    assert labels_of(nodes["nd-0"])[WAIT] == "false"


def test_a_driver_in_the_cluster_policy_leaves_nodes_without_its_pod_waiting_for_ever(pools: Any, settle: Any) -> None:
    pools.policy({"ofedDriver": IMAGE, "rdmaSharedDevicePlugin": SHARED})
    settle(pools, reconcile)
    pools.pod(OFED, "nd-0", ready=True)
    settle(pools, reconcile)
    nodes = pools.objects["Node"]
    assert (labels_of(nodes["hb-0"]).get(WAIT), labels_of(nodes["nd-0"]).get(WAIT)) == (None, "false")


def test_each_policy_upgrades_its_own_driver(pools: Any, settle: Any) -> None:
    rules = {"autoUpgrade": True, "maxParallelUpgrades": 1}
    for pool in ("hb", "nd"):
        node_policy(pools, pool, {"agentpool": pool}, ofedDriver={**IMAGE, "upgradePolicy": rules})
    settle(pools, reconcile)
    for pool in ("hb", "nd"):
        name = OFED.replace("-ds", f"-{pool}-ds")
        pools.revision(name, 1)
        pools.pod(name, f"{pool}-0", ready=True)
    settle(pools, reconcile)
    for pool in ("hb", "nd"):
        pools.revision(OFED.replace("-ds", f"-{pool}-ds"), 2)
    restarted = []
    for _ in range(8):
        plan = plan_of(pools)
        pools.obey(plan)
        restarted += [pod["spec"]["nodeName"] for pod in plan.deletions]
    assert sorted(restarted) == ["hb-0", "nd-0"], "one node of each, side by side"
