"""The culprit for a pod that is Pending, cannot start or failed, and for a Job."""

from typing import Any

import pytest
from aks_infiniband.diagnosis.view import View

from tests.unit.diagnosis.views import HEALTHY, JOB, NIC_POLICY, bare, job, node, pod, policy, said


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
    assert "likely cause: nvidia.com/gpu (requests 8) is held by other pods\n" in text


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


def test_a_job_whose_pod_somebody_has_deleted_has_that_as_its_cause() -> None:
    ended = job(conditions=[{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "m"}])
    assert "a pod of it was deleted while it ran" in said(JOB, View(nodes=HEALTHY, jobs=[ended]))
    failed = pod("validate-1-0", phase="Failed")
    assert "was deleted" not in said(JOB, View(nodes=HEALTHY, pods=[failed], jobs=[ended]))
    late = job(conditions=[{"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "m"}])
    assert "was deleted" not in said(JOB, View(nodes=HEALTHY, jobs=[late]))


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


def test_a_pod_that_got_no_device_of_its_claims_till_the_jobs_end_deleted_it_is_still_named() -> None:
    ended = job(conditions=[{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "m"}])
    ended["spec"] = {"template": {"spec": {"containers": [{"name": "c"}]}}}
    why = "prepare devices failed: error asserting ComputeDomain Ready: current node not ready in ComputeDomain"
    refused = {"reason": "FailedPrepareDynamicResources", "message": why, "source": {"host": "n1"}}
    events = [
        {**scheduling("validate-1-0", "", "2026-01-01T00:00:02Z"), **refused},
        scheduling("validate-1-0", "Pulled", "2026-01-01T00:00:09Z"),
        {**scheduling("validate-1-1", "", "2026-01-01T00:00:02Z"), **refused},
    ]
    text = said(JOB, View(nodes=HEALTHY, jobs=[ended], events=events))
    assert "pod aks-infiniband/validate-1-1 on n1 gets no device of its claims" in text
    assert "the IMEX daemon of the ComputeDomain is not ready on this node" in text
    assert "validate-1-0" not in text, "it started in the end"


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
    assert "likely cause: the OFED driver cannot load mlx5_ib" in text
    assert "set OFED_BLACKLIST_MODULES_FILE=" in text


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
