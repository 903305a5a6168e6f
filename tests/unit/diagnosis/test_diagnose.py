"""From what a cluster shows to who is to blame, why, and what to run next."""

import json
from typing import Any

import pytest
from aks_infiniband.diagnosis.view import View, Wait

from tests.unit.diagnosis.views import HEALTHY, JOB, NIC, NIC_POLICY, bare, daemon_set, job, node, pod, policy, said


def test_a_pending_pod_is_blamed_on_the_resource_and_the_nodes_that_lack_it() -> None:
    asks = {"containers": [{"resources": {"requests": {"cpu": "1", "rdma/shared_ib": "1", "nvidia.com/gpu": "8"}}}]}
    waiting = pod(
        "validate-1-0",
        phase="Pending",
        spec=asks | {"nodeSelector": {"agentpool": "ndh100"}},
        conditions=[{"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available"}],
    )
    view = View(nodes=[node("n0"), node("n1", **{"rdma/shared_ib": "0"})], pods=[waiting], jobs=[job()])

    text = said(JOB, view)
    assert "pod aks-infiniband/validate-1-0 is Pending: 0/3 nodes are available" in text
    assert "likely cause: rdma/shared_ib (asks for 1) is missing on n1" in text
    assert "nvidia.com/gpu (asks" not in text
    assert "next: kubectl -n aks-infiniband describe pod validate-1-0" in text
    assert "pool ndh100: n1 offer less than 1 of rdma/shared_ib" in text


def test_a_pending_pod_is_blamed_on_others_that_hold_what_the_nodes_offer() -> None:
    waiting = pod(
        "validate-1-0",
        phase="Pending",
        spec={"containers": [{"resources": {"requests": {"nvidia.com/gpu": "8", "rdma/shared_ib": "1"}}}]},
        conditions=[{"type": "PodScheduled", "status": "False", "message": "0/2: 2 Insufficient nvidia.com/gpu."}],
    )
    text = said(JOB, View(nodes=HEALTHY, pods=[waiting], jobs=[job()]))
    assert "likely cause: nvidia.com/gpu (asks for 8) is held by other pods\n" in text


def test_a_pending_pod_whose_labels_no_node_carries_says_which() -> None:
    waiting = pod(
        "validate-1-0",
        phase="Pending",
        spec={"nodeSelector": {"agentpool": "typo"}},
        conditions=[{"type": "PodScheduled", "status": "False", "message": "0/2 nodes"}],
    )
    text = said(JOB, View(nodes=HEALTHY, pods=[waiting], jobs=[job()]))
    assert "likely cause: no node carries all of the labels agentpool=typo" in text


def test_pods_of_other_jobs_are_not_blamed() -> None:
    other = pod("other-0", owner="uid-2", containerStatuses=[{"name": "c", "state": {"terminated": {"exitCode": 1}}}])
    assert "other-0" not in said(JOB, View(nodes=HEALTHY, pods=[other], jobs=[job()]))


def test_the_termination_message_of_a_failed_init_container_is_shown() -> None:
    state = {"terminated": {"exitCode": 1, "message": "pool ndh100 after 60 s: node n1: not Ready (x)"}}
    held = {"name": "validate", "state": {"waiting": {"reason": "PodInitializing"}}}
    failed = pod(
        "validate-1-0",
        phase="Failed",
        initContainerStatuses=[{"name": "await-nodes", "state": state}],
        containerStatuses=[held],
    )
    ended = job(conditions=[{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "m"}])

    text = said(JOB, View(nodes=HEALTHY, pods=[failed], jobs=[ended]))
    assert "container await-nodes: exit code 1: pool ndh100 after 60 s: node n1: not Ready (x)" in text
    assert "Job aks-infiniband/validate-1 failed: BackoffLimitExceeded: m" in text
    assert "kubectl -n aks-infiniband logs validate-1-0 -c await-nodes" in text


def scheduling(pod: Any, reason: Any, time: Any) -> Any:
    about = {"kind": "Pod", "namespace": "aks-infiniband", "name": pod}
    metadata = {"name": f"{pod}.1", "namespace": "aks-infiniband"}
    return {
        "metadata": metadata, "involvedObject": about, "reason": reason, "eventTime": time, "message": f"{reason} {pod}"
    }  # fmt: skip


def test_a_pod_that_was_pending_till_the_jobs_deadline_deleted_it_is_still_named() -> None:
    asks = {"containers": [{"name": "c", "resources": {"requests": {"rdma/shared_ib": "1"}}}]}
    ended = job(conditions=[{"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "m"}])
    ended["spec"] = {"template": {"spec": asks}}
    events = [
        scheduling("validate-1-1", "Scheduled", "2026-01-01T00:00:09Z"),
        scheduling("validate-1-0", "FailedScheduling", "2026-01-01T00:00:01Z"),
        scheduling("validate-1-1", "FailedScheduling", "2026-01-01T00:00:01Z"),
        scheduling("other-0", "FailedScheduling", "2026-01-01T00:00:01Z"),
    ]
    text = said(JOB, View(nodes=[bare("n0")], jobs=[ended], events=events))
    assert "pod aks-infiniband/validate-1-0 is Pending: FailedScheduling validate-1-0" in text
    assert "rdma/shared_ib (asks for 1) is missing on n0" in text
    assert "validate-1-1" not in text
    assert "other-0" not in text


def test_the_log_is_shown_where_there_is_no_message() -> None:
    state = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    failed = pod("validate-1-0", phase="Failed", containerStatuses=[{"name": "c", "state": state}])
    view = View(nodes=HEALTHY, pods=[failed], jobs=[job()], logs={"aks-infiniband/validate-1-0": "line 1\nline 2"})

    text = said(JOB, view)
    assert "exit code 137: OOMKilled" in text
    assert "    line 2" in text


def test_a_job_that_is_not_there_or_has_no_pod_is_said_to() -> None:
    assert "Job aks-infiniband/validate-1 does not exist" in said(JOB, View(nodes=HEALTHY))
    assert "Job aks-infiniband/validate-1 has no pod" in said(JOB, View(nodes=HEALTHY, jobs=[job()]))


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


@pytest.mark.field_report("B8")
def test_a_policy_without_status_is_blamed_on_its_operator() -> None:
    text = said(NIC_POLICY, View(nodes=HEALTHY, policies=[policy()]))
    assert "has no status yet" in text
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


@pytest.mark.field_report("B1", "B1b", "B1d", "B4")
def test_a_crashing_driver_is_blamed_by_what_its_log_says() -> None:
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}}
    crashed = {"name": "mofed-container", "state": state, "lastState": {"terminated": {"exitCode": 1}}}
    driver = pod("mofed-x", "network-operator", containerStatuses=[crashed])
    log = "openibd restart\nFailed loading kernel module mlx5_ib"
    view = View(
        nodes=HEALTHY, pods=[driver], policies=[policy(state="notReady")], logs={"network-operator/mofed-x": log}
    )

    text = said(NIC_POLICY, view)
    assert "pod network-operator/mofed-x on n0, container mofed-container: CrashLoopBackOff back-off 5m0s" in text
    assert "likely cause: set OFED_BLACKLIST_MODULES_FILE" in text


@pytest.mark.field_report("C11")
@pytest.mark.parametrize("reason", ["ErrImagePull", "ImagePullBackOff"])
def test_an_image_that_cannot_be_pulled_is_named_with_its_message(reason: Any) -> None:
    state = {"waiting": {"reason": reason, "message": 'image "nvcr.io/x" not found'}}
    view = View(
        nodes=HEALTHY,
        pods=[pod("a", "network-operator", phase="Pending", initContainerStatuses=[{"name": "i", "state": state}])],
        policies=[policy(state="notReady")],
    )
    text = said(NIC_POLICY, view)
    assert f'container i: {reason} image "nvcr.io/x" not found' in text
    assert "registry cannot be reached" in text


def test_pods_that_run_or_are_done_are_not_mentioned() -> None:
    running = pod("a", "network-operator", containerStatuses=[{"name": "c", "state": {"running": {}}}])
    done = pod("b", "network-operator", phase="Succeeded")
    text = said(NIC_POLICY, View(nodes=HEALTHY, pods=[running, done], policies=[policy(state="ready")]))
    assert "nothing that explains it" in text


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
