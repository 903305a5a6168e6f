"""Waits for policies of one pool, IPoIB networks and DaemonSets of ours: who is to blame and what to do next."""

from dataclasses import replace
from typing import Any

import pytest
from aks_infiniband.diagnosis.error_hook import wait_of
from aks_infiniband.diagnosis.view import View, Wait
from pulumi import ErrorHookArgs

from tests.unit.diagnosis.views import HEALTHY, JOB, NIC_POLICY, bare, daemon_set, job, pod, policy, said

NODE_POLICY = Wait(waiting_for="nic-node-policy", name="ndh100")
NETWORK = Wait(waiting_for="ipoib-network", name="aks-infiniband")
ADDRESSES = Wait(waiting_for="ip-pool", name="aks-infiniband", namespace="network-operator")
PREPARATION = Wait(waiting_for="daemon-set", name="node-preparation", namespace="aks-infiniband")


@pytest.mark.field_report("B9")
def test_a_node_policy_that_is_not_ready_says_which_of_its_parts_are_not() -> None:
    states = [{"name": "state-OFED", "state": "notReady"}]
    view = View(nodes=HEALTHY, policies=[policy("NicNodePolicy", state="notReady", appliedStates=states), policy()])
    text = said(NODE_POLICY, view)
    assert "NicNodePolicy nicnodepolicy: state notReady (state-OFED: notReady)" in text
    assert "NicClusterPolicy" not in text


@pytest.mark.field_report("B9")
def test_node_policies_that_overlap_are_told_in_the_operators_words() -> None:
    reason = "nodes n0 are selected by NicNodePolicies a and b"
    view = View(nodes=HEALTHY, policies=[policy("NicNodePolicy", state="error", reason=reason)])
    assert f"state error ({reason})" in said(NODE_POLICY, view)


def test_a_section_in_both_kinds_of_policy_names_the_policy_that_has_to_go() -> None:
    section: dict[str, Any] = {"ofedDriver": {}, "nodeSelector": {}}
    own = {**policy("NicNodePolicy"), "spec": section}
    whole = {**policy(state="notReady"), "spec": {"ofedDriver": {}, "nodeAffinity": {}}}
    text = said(NIC_POLICY, View(nodes=HEALTHY, policies=[whole, own]))
    assert "NicNodePolicy nicnodepolicy has ofedDriver, and so has the NicClusterPolicy" in text
    assert "next: kubectl delete nicnodepolicy nicnodepolicy, then pulumi up" in text
    apart = {**own, "spec": {"rdmaSharedDevicePlugin": {}}}
    assert "has to go first" not in said(NIC_POLICY, View(nodes=HEALTHY, policies=[whole, apart]))


@pytest.mark.field_report("B8")
def test_a_foreign_policy_that_the_operator_ignores_is_named() -> None:
    foreign = policy(state="ignore", reason="Unsupported NicClusterPolicy instance theirs")
    foreign["metadata"]["name"] = "theirs"
    text = said(NIC_POLICY, View(nodes=HEALTHY, policies=[policy(state="notReady"), foreign]))
    assert "NicClusterPolicy theirs: state ignore" in text
    assert "the Network Operator reads only the name nic-cluster-policy" in text
    assert "kubectl delete nicclusterpolicy theirs" in text


@pytest.mark.field_report("B8", "D12")
def test_a_policy_whose_fields_somebody_else_manages_is_no_riddle() -> None:
    error = 'Apply failed with 2 conflicts: conflicts with "helm" using mellanox.com/v1alpha1'
    text = said(replace(NIC_POLICY, errors=(error,)), View(nodes=HEALTHY, policies=[policy(state="ready")]))
    assert error in text
    assert "another program made it" in text


@pytest.mark.field_report("D8")
def test_addresses_without_a_definition_point_at_the_policys_part_that_brings_it() -> None:
    error = 'no matches for kind "IPPool" in version "nv-ipam.nvidia.com/v1alpha1"'
    text = said(replace(ADDRESSES, errors=(error,)), View(nodes=HEALTHY, policies=[policy(state="ready")]))
    assert "the operator defines IPPool when it applies the NicClusterPolicy's part nvIpam" in text


@pytest.mark.field_report("D8")
def test_any_other_missing_definition_points_at_the_release() -> None:
    error = 'no matches for kind "NicClusterPolicy" in version "mellanox.com/v1alpha1"'
    assert "install its release first" in said(replace(NIC_POLICY, errors=(error,)), View(nodes=HEALTHY))


def test_a_network_says_its_state_and_whether_its_addresses_were_given_out() -> None:
    metadata = {"name": "aks-infiniband"}
    status = {"state": "error", "reason": "namespace not found"}
    networks: list[Any] = [
        {"kind": "IPoIBNetwork", "metadata": metadata, "status": status},
        {"kind": "IPPool", "metadata": metadata | {"namespace": "network-operator"}, "status": {"allocations": []}},
        {"kind": "IPoIBNetwork", "metadata": {"name": "other"}, "status": {"state": "notReady"}},
    ]
    text = said(NETWORK, View(nodes=HEALTHY, networks=networks, policies=[policy(state="ready")]))
    assert "IPoIBNetwork aks-infiniband: state error namespace not found" in text
    assert "IPPool network-operator/aks-infiniband has given no node a block of addresses" in text
    assert "other" not in text


@pytest.mark.field_report("B17")
@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ('rpc error: no free addresses in the pool "aks-infiniband", poolType "ippool"', "addressesPerNode"),
        (
            'configuration for pool "aks-infiniband", poolType "ippool" not found',
            "the IPPool lacks a block for this node",
        ),
        ('failed to lookup master "ibP257p0s0": Link not found', "set the pool's ipoibDevices"),
        ("cannot find a network-attachment-definition (x) in namespace (apps)", "write it as namespace/name"),
    ],
)
def test_a_pod_that_gets_no_network_is_told_the_plugins_last_word_and_what_helps(message: Any, cause: Any) -> None:
    waiting = pod(
        "validate-1-0",
        phase="Pending",
        conditions=[{"type": "PodScheduled", "status": "True"}],
        containerStatuses=[{"name": "c", "state": {"waiting": {"reason": "ContainerCreating"}}}],
    )
    event = {
        "metadata": {"namespace": "aks-infiniband"},
        "reason": "FailedCreatePodSandBox",
        "message": message,
        "involvedObject": {"kind": "Pod", "name": "validate-1-0"},
    }
    text = said(JOB, View(nodes=HEALTHY, pods=[waiting], jobs=[job()], events=[event]))
    assert f"pod aks-infiniband/validate-1-0 on n0 gets no network: {message}" in text
    assert cause in text


def test_a_daemon_set_of_ours_is_explained_by_itself_its_pods_and_its_nodes() -> None:
    unready = pod(
        "node-preparation-x",
        conditions=[{"type": "Ready", "status": "False"}],
        containerStatuses=[{"name": "node-preparation", "ready": False, "state": {"running": {}}}],
    )
    unready["metadata"]["labels"] = {"app.kubernetes.io/name": "node-preparation"}
    view = View(
        nodes=[bare("n0")],
        daemon_sets=[daemon_set("node-preparation", "aks-infiniband", ready=1), daemon_set("other", "aks-infiniband")],
        pods=[unready],
        logs={"aks-infiniband/node-preparation-x": "modprobe: FATAL: Module ib_umad not found"},
    )
    text = said(PREPARATION, view)
    assert "DaemonSet aks-infiniband/node-preparation: 1 of 2 ready" in text
    assert "container node-preparation runs and is not ready\n" in text
    assert "the node's kernel lacks the module" in text
    assert "pool ndh100: 1 of 2 nodes have joined the cluster" in text
    assert "rdma/shared_ib" not in text, "what it comes before is not its fault"


@pytest.mark.field_report("B5")
def test_a_driver_that_is_still_not_ready_shows_the_end_of_its_log() -> None:
    building = pod(
        "mofed-x",
        "network-operator",
        conditions=[{"type": "Ready", "status": "False"}],
        containerStatuses=[{"name": "mofed-container", "ready": False, "state": {"running": {}}}],
    )
    view = View(
        nodes=HEALTHY,
        pods=[building],
        policies=[policy(state="notReady")],
        logs={"network-operator/mofed-x": "Building kernel modules"},
    )
    text = said(NIC_POLICY, view)
    assert "pod network-operator/mofed-x on n0, container mofed-container runs and is not ready" in text
    assert "Building kernel modules" in text


@pytest.mark.field_report("C11")
@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("pull access denied: 401 Unauthorized", "aks-infiniband:registryCredentials"),
        ("429 Too Many Requests", "set registry.images"),
        ("no such host", "the image or its registry cannot be reached"),
    ],
)
def test_an_image_that_is_refused_points_at_the_setting_that_helps(message: Any, cause: Any) -> None:
    state = {"waiting": {"reason": "ImagePullBackOff", "message": message}}
    waiting = pod("mofed-x", "network-operator", phase="Pending", containerStatuses=[{"name": "c", "state": state}])
    view = View(nodes=HEALTHY, pods=[waiting], policies=[policy(state="notReady")])
    assert cause in said(NIC_POLICY, view)


@pytest.mark.field_report("C2")
def test_memory_that_cannot_be_locked_is_blamed_on_the_limit() -> None:
    state = {"terminated": {"exitCode": 1, "message": "ibv_reg_mr: Cannot allocate memory"}}
    failed = pod("validate-1-0", phase="Failed", containerStatuses=[{"name": "validate", "state": state}])
    assert "the node's limit of locked memory is low" in said(JOB, View(nodes=HEALTHY, pods=[failed], jobs=[job()]))


@pytest.mark.parametrize(
    ("waiting_for", "namespace"),
    [
        ("nic-node-policy", ""),
        ("ipoib-network", ""),
        ("ip-pool", "network-operator"),
        ("daemon-set", "network-operator"),
    ],
)
def test_only_what_lies_in_a_namespace_is_looked_for_in_one(waiting_for: Any, namespace: Any) -> None:
    inputs = {"metadata": {"name": "x", "namespace": "network-operator"}}
    args = ErrorHookArgs(
        urn="urn", id="", name="x", type="t", new_inputs=inputs, old_inputs=None, old_outputs=None,
        failed_operation="create", errors=["timed out"],
    )  # fmt: skip
    assert wait_of(args, waiting_for).namespace == namespace
