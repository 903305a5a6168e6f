"""From what a cluster shows to who is to blame, why, and what to run next."""

import json
from typing import Any

import pytest
from aks_infiniband.diagnosis.view import View, Wait

from tests.unit.diagnosis.views import HEALTHY, JOB, NIC, NIC_POLICY, bare, daemon_set, job, node, policy, said


@pytest.mark.field_report("B2")
def test_nodes_that_are_not_ready_cordoned_or_missing_are_named() -> None:
    view = View(nodes=[node("n0", ready="Unknown"), node("n2", labels={"agentpool": "x"}, cordoned=True)], jobs=[job()])

    text = said(JOB, view)
    assert "node n0 is not Ready (NodeStatusUnknown: gone)" in text
    assert "node n2 is cordoned" in text
    assert "pool ndh100: 1 of 2 nodes have joined the cluster" in text


def rdma_devices(**entry: Any) -> Any:
    config = {"configList": [{"resourceName": "shared_ib", "rdmaHcaMax": 63, **entry}]}
    metadata = {"name": "rdma-devices", "namespace": "network-operator"}
    return {"metadata": metadata, "data": {"config.json": json.dumps(config)}}


@pytest.mark.field_report("B13", "B14")
def test_a_device_plugin_that_selects_the_wrong_vendor_is_blamed() -> None:
    view = View(
        nodes=[node("n0", **{"rdma/shared_ib": "0"}), node("n1", **{"rdma/shared_ib": "0"})],
        jobs=[job()],
        daemon_sets=[daemon_set("rdma-shared-dp-ds")],
        config_maps=[rdma_devices(selectors={"vendors": ["1234"]})],
    )
    text = said(JOB, view)
    assert 'offers no rdma/shared_ib on n0, n1: its selectors are {"vendors": ["1234"]}' in text
    assert "match no device" in text


def test_a_device_plugin_with_another_resource_name_is_blamed() -> None:
    view = View(
        nodes=[bare("n0"), bare("n1")],
        jobs=[job()],
        daemon_sets=[daemon_set("rdma-shared-dp-ds")],
        config_maps=[rdma_devices(resourceName="other")],
    )
    assert "is configured to offer rdma/other, not rdma/shared_ib (missing on n0, n1)" in said(JOB, view)


def test_a_device_plugin_that_is_not_ready_is_not_blamed_for_its_selectors() -> None:
    view = View(
        nodes=[bare("n0"), bare("n1")],
        jobs=[job()],
        daemon_sets=[daemon_set("rdma-shared-dp-ds", ready=1)],
        config_maps=[rdma_devices()],
    )
    text = said(JOB, view)
    assert "DaemonSet network-operator/rdma-shared-dp-ds: 1 of 2 ready" in text
    assert "selectors are" not in text


def test_a_policy_that_is_not_ready_says_which_parts_are_not() -> None:
    states = [
        {"name": "state-OFED", "state": "notReady", "message": "3 pods"},
        {"name": "state-multus-cni", "state": "ignore"},
        {"name": "state-RDMA-device-plugin", "state": "ready"},
        {"name": "state-nv-ipam-cni", "state": "error"},
    ]
    view = View(nodes=HEALTHY, policies=[policy(state="notReady", appliedStates=states)])

    text = said(NIC_POLICY, view)
    assert "state notReady (state-OFED: notReady 3 pods; state-nv-ipam-cni: error)" in text
    assert "multus" not in text


def test_a_policy_with_conditions_of_its_parts_says_those_that_are_not_met_once() -> None:
    states = [{"name": "state-OFED", "state": "notReady"}]
    conditions = [
        {
            "type": "OFEDDriverReady",
            "status": "False",
            "reason": "ComponentError",
            "message": "no image",
            "observedGeneration": 3,
        },
        {
            "type": "MultusCNIReady",
            "status": "True",
            "reason": "ComponentReady",
            "message": "",
            "observedGeneration": 3,
        },
        {
            "type": "NVIPAMReady",
            "status": "False",
            "reason": "ComponentNotReady",
            "message": "",
            "observedGeneration": 3,
        },
        {
            "type": "Ready",
            "status": "False",
            "reason": "ComponentError",
            "message": "One or more",
            "observedGeneration": 3,
        },
    ]
    found = policy(state="notReady", appliedStates=states, conditions=conditions)
    text = said(NIC_POLICY, View(nodes=HEALTHY, policies=[found]))
    assert "state notReady (OFEDDriverReady=False no image; NVIPAMReady=False ComponentNotReady)" in text
    changed = {**found, "metadata": {**found["metadata"], "generation": 4}}
    text = said(NIC_POLICY, View(nodes=HEALTHY, policies=[changed]))
    assert "the operator has not looked at its latest change yet; OFEDDriverReady" in text


@pytest.mark.field_report("B8")
def test_a_policy_without_status_is_blamed_on_its_operator() -> None:
    text = said(NIC_POLICY, View(nodes=HEALTHY, policies=[policy()]))
    assert "does not have a status yet" in text
    assert "its operator is not running" in text
    assert "there is no NicClusterPolicy" in said(NIC_POLICY, View(nodes=HEALTHY))


@pytest.mark.field_report("B6")
def test_a_daemon_set_that_wants_no_pod_is_a_failure_and_the_missing_label_is_named() -> None:
    selector = {NIC: "true", "kubernetes.io/os": "linux"}
    view = View(
        nodes=[bare("n0"), bare("n1")],
        policies=[policy(state="notReady")],
        daemon_sets=[daemon_set("mofed-ds", desired=0, ready=0, selector=selector)],
    )
    text = said(NIC_POLICY, view)
    assert "DaemonSet network-operator/mofed-ds wants 0 pods" in text
    assert f"no node carries the label {NIC}=true: node feature discovery" in text


def test_an_affinity_that_matches_nothing_is_spelled_out() -> None:
    expression = {"key": "vendor", "operator": "In", "values": ["10de"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    view = View(nodes=HEALTHY, daemon_sets=[daemon_set("mofed-ds", desired=0, ready=0, affinity=affinity)])
    assert "its node affinity matches no node: vendor In 10de" in said(NIC_POLICY, view)


def test_a_daemon_set_that_is_empty_by_design_is_left_alone() -> None:
    mps = daemon_set("mps", "gpu-operator", desired=0, ready=0, selector={"nvidia.com/mps.capable": "true"})
    wait = Wait(waiting_for="cluster-policy", name="cluster-policy")
    view = View(nodes=HEALTHY, daemon_sets=[mps], policies=[policy("ClusterPolicy", state="notReady")])
    assert "mps" not in said(wait, view)


@pytest.mark.field_report("B6")
def test_no_node_with_the_label_points_at_feature_discovery() -> None:
    text = said(NIC_POLICY, View(nodes=[bare("n0")], policies=[policy(state="notReady")]))
    assert f"no node carries the label {NIC}=true, without which the operator ignores it" in text
    assert f"kubectl get nodes -L {NIC}" in text


@pytest.mark.field_report("B10")
def test_two_feature_discoveries_are_named() -> None:
    workers = [
        daemon_set("network-operator-node-feature-discovery-worker"),
        daemon_set("gpu-operator-node-feature-discovery-worker", "gpu-operator"),
    ]
    text = said(NIC_POLICY, View(nodes=HEALTHY, daemon_sets=workers, policies=[policy(state="notReady")]))
    assert "2 node feature discoveries run: network-operator/network-operator-node-feature" in text
    assert "nfd.enabled=false" in text


@pytest.mark.field_report("D9")
def test_a_release_names_its_deployments_and_the_helm_command() -> None:
    release = Wait(waiting_for="release", name="network-operator", namespace="network-operator")
    metadata = {"name": "operator", "namespace": "network-operator"}
    condition = {"type": "Available", "status": "False", "message": "no minimum availability"}
    secrets: list[Any] = [
        {"metadata": {"labels": {"name": "network-operator", "version": version, "status": status}}}
        for version, status in (("1", "superseded"), ("2", "pending-upgrade"))
    ]
    view = View(
        nodes=HEALTHY,
        deployments=[{"metadata": metadata, "status": {"conditions": [condition]}}],
        release_secrets=secrets,
    )
    text = said(release, view)
    assert "Deployment network-operator/operator is not available: no minimum availability" in text
    assert "Helm release network-operator/network-operator is recorded as pending-upgrade" in text
    assert "helm -n network-operator rollback network-operator" in text


@pytest.mark.field_report("D9")
@pytest.mark.parametrize("status", ["failed", "pending-install"])
def test_a_first_install_that_was_cut_off_has_to_be_uninstalled(status: Any) -> None:
    release = Wait(waiting_for="release", name="r", namespace="ns")
    secret = {"metadata": {"labels": {"name": "r", "version": "1", "status": status}}}
    assert "helm -n ns uninstall r" in said(release, View(nodes=HEALTHY, release_secrets=[secret]))


def test_a_release_that_helm_holds_for_deployed_is_not_blamed() -> None:
    release = Wait(waiting_for="release", name="r", namespace="ns")
    secret = {"metadata": {"labels": {"name": "r", "version": "1", "status": "deployed"}}}
    assert "helm" not in said(release, View(nodes=HEALTHY, release_secrets=[secret])).lower()


def test_what_could_not_be_read_is_said() -> None:
    assert "(could not be read: pods: refused)" in said(
        JOB, View(nodes=HEALTHY, jobs=[job()], unread=["pods: refused"])
    )


def test_a_hundred_of_the_same_are_cut_short() -> None:
    view = View(nodes=[node(f"n{index}", ready="False") for index in range(100)], jobs=[job()])
    text = said(JOB, view, pools=())
    assert text.count("is not Ready") < 30
    assert "more of the kind" in text
