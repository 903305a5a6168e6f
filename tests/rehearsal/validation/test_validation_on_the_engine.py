"""The validation on the real engine, on simulated machines. Faults, too: test_measuring.py, and collective/."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from aks_infiniband.diagnosis.pods import job_findings
from aks_infiniband.diagnosis.view import Wait
from aks_infiniband.facts.versions import NCCL_IMAGE
from aks_infiniband.validation.payload.talk.config_maps import packed
from lightkube.resources.core_v1 import ConfigMap, Node, Pod

from rehearsal.faults.machine_faults import FILE
from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.validation.conftest import Validated
from tests.rehearsal.validation.login import EXPIRED, Login
from tests.rehearsal.validation.table import rows
from tests.rehearsal.waiting import eventually


def test_a_sound_pool_passes_once_and_a_second_update_changes_nothing(validated: Validated) -> None:
    validated.pool("sound", fabrics=("one", "one"))

    preview = validated.run("preview", "sound")
    assert preview.succeeded, preview.said

    first = validated.run("up", "sound")
    assert first.succeeded, first.said
    report = validated.report("sound")
    assert report["verdict"] == "pass"
    assert report["coverage"]["summary"].startswith("2 of 2 nodes, 16 of 16 HCAs")
    assert report["coverage"]["not_measured"] == []
    assert tuple(sorted(report["nodes"])) == validated.machines("sound")
    facts = {"environment", "hca-rate", "rdma-devices", "accelerator-devices", "memlock", "partition-keys", "versions"}
    figures = {"rdma-write-bandwidth", "rdma-read-latency", "rdma-ping-pong-latency", "all-reduce", "error-counters"}
    assert facts | figures <= {check["check"] for check in report["checks"] if check["verdict"] == "pass"}

    validated.client.deletecollection(Pod, namespace="sound")
    forged = packed({"report.json.gz": json.dumps({**report, "checks": []})})
    validated.client.patch(ConfigMap, "sound-validation-report", forged, namespace="sound")
    second = validated.run("up", "sound")
    assert second.succeeded, second.said
    assert set(second.done.values()) == {"same"}, "the engine writes its whole state for each object that it reads"
    assert validated.report("sound") == report, "it outlives the pods, which go with their nodes, and the ConfigMap"

    assert validated.run("destroy", "sound").succeeded


@pytest.mark.field_report("A1", "A2")
def test_machines_on_different_fabrics_fail_the_update_and_the_next_one_validates_again(validated: Validated) -> None:
    validated.pool("split", fabrics=("one", "other"))
    here, there = validated.machines("split")

    first = validated.run("up", "split")
    assert not first.succeeded
    told = " ".join(first.said.split())  # causes are wrapped
    assert f"nodes {here}, {there} are on different partitions" in told
    assert "AKSInfinibandSupport was not registered" in told
    assert "kubectl -n split get configmap split-validation-report" in first.said

    again = validated.run("up", "split")
    assert not again.succeeded
    assert again.done["split-validate"] != "same", "a failed Job has to run again"
    assert "are on different partitions" in " ".join(again.said.split())

    warned = validated.run("up", "split", mode="warn")
    assert warned.succeeded, warned.said
    replaced = warned.operations["split-validate"]
    assert replaced.index("delete-replaced") < replaced.index("create-replacement"), "two Jobs would share the nodes"
    assert validated.report("split")["verdict"] == "fail"
    assert "are on different partitions" in warned.said


@pytest.mark.field_report("B14")
def test_a_device_plugin_that_selects_another_vendor_is_named_and_once_mended_the_pool_passes(
    validated: Validated,
) -> None:
    validated.pool("bare", fabrics=("one", "one"), vendor="10de")
    machines = ", ".join(validated.machines("bare"))

    first = validated.run("up", "bare", timeout=8)
    assert not first.succeeded
    pending = validated.pods("bare")
    assert len(pending) == 2
    for pod in pending:
        assert pod.startswith("bare-validate-")
        assert f"pod bare/{pod} is Pending: " in first.said
    assert "Insufficient rdma/shared_ib" in first.said
    assert f"rdma/shared_ib (asks for 1) is missing on {machines}" in first.said
    assert f"pool bare: {machines} offer less than 1 of rdma/shared_ib" in first.said

    validated.pass_deadline("bare")
    view = validated.look("bare")
    (job,) = view.jobs
    wait = Wait(waiting_for="job", name=job["metadata"]["name"], namespace="bare")
    later = "\n".join(finding.what for finding in job_findings(wait, view))
    for pod in pending:
        assert f"pod bare/{pod} is Pending: " in later, "the scheduler's events outlive the pods"
    assert "Insufficient rdma/shared_ib" in later

    validated.rdma_plugin("bare", "15b3")
    mended = validated.run("up", "bare")
    assert mended.succeeded, mended.said
    assert validated.report("bare")["verdict"] == "pass"


def test_the_look_for_objects_of_others_takes_no_place_of_the_engine(validated: Validated) -> None:
    """All of its places may be taken by creations that wait for this look."""
    validated.pool("narrow", fabrics=("one", "one"))

    outcome = validated.run("up", "narrow", "--parallel", "1", mode="off")
    assert outcome.succeeded, outcome.said
    assert validated.run("destroy", "narrow", mode="off").succeeded


def test_mode_off_makes_no_job_and_says_that_nothing_was_measured(validated: Validated) -> None:
    validated.pool("taken", fabrics=("one", "one"))

    outcome = validated.run("up", "taken", mode="off")
    assert outcome.succeeded, outcome.said
    assert validated.report("taken")["verdict"] == "not measured"
    assert not [name for name in outcome.done if name.endswith("-validate")]


def test_a_node_whose_gpus_are_taken_leaves_a_pod_pending_and_that_is_said(validated: Validated) -> None:
    """The pool is that of the test before."""
    free, taken = validated.machines("taken")
    hog = {"name": "hog", "image": "registry.invalid/hog", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    validated.apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "hog", "namespace": "taken"},
            "spec": {"nodeSelector": {"kubernetes.io/hostname": taken}, "containers": [hog]},
        }
    )

    short = validated.run("up", "taken", timeout=12)
    assert not short.succeeded
    assert "is Pending: " in short.said
    assert "nvidia.com/gpu (requests 8) is held by other pods" in short.said
    table = " ".join(short.said.split())
    assert f"nodes-reported the pool 2 1 likely cause: only {free} reported in time" in table


@pytest.mark.field_report("B5")
def test_a_node_that_never_gets_ready_fails_the_pods_on_the_others_and_is_named(validated: Validated) -> None:
    validated.pool("lagging", fabrics=("one", "one"))
    good, cordoned = validated.machines("lagging")
    validated.client.patch(Node, cordoned, {"spec": {"unschedulable": True}})

    outcome = validated.run("up", "lagging", timeout=16)
    assert not outcome.succeeded
    assert f" on {good}, container await-nodes: exit code 1: pool lagging after 16 s: node {cordoned}: cordoned" in (
        outcome.said
    )
    assert f"node {cordoned} is cordoned: nothing new is scheduled on it" in outcome.said


@pytest.mark.long
def test_a_login_that_expires_during_the_update_is_named_and_after_another_the_next_update_goes_on(
    validated: Validated, tmp_path: Path
) -> None:
    validated.pool("expiring", fabrics=("one", "one"))
    _, cordoned = validated.machines("expiring")
    validated.client.patch(Node, cordoned, {"spec": {"unschedulable": True}})
    login = Login(tmp_path, validated.control_plane)
    with_login = replace(validated, program={**validated.program, "kubeconfig": login.kubeconfig()})
    log = validated.log_of_updates("expiring")
    with ThreadPoolExecutor() as aside:
        update = aside.submit(with_login.run, "up", "expiring")
        # The provider's words as soon as it watches the Job and its pods.
        eventually(lambda: update.done() or (log.exists() and " to succeed (" in log.read_text(errors="replace")))
        login.expire()
        validated.client.patch(Node, cordoned, {"spec": {"unschedulable": None}})
        expired = update.result()
    assert "ConfigMap expiring/expiring-validation-report could not be read" in expired.said
    assert EXPIRED in expired.said, "the plugin's own words"
    assert "likely cause: the login of this run has expired" in expired.said
    assert "log in again (az login, or the kubeconfig's own way), then pulumi up" in expired.said
    again = validated.run("up", "expiring")
    assert again.succeeded, again.said
    assert again.done["expiring-validate"] == "same", "what was measured is not measured again"
    assert validated.report("expiring")["verdict"] == "pass"


@pytest.mark.long  # the whole wait for a Job that cannot end
def test_a_node_that_is_lost_while_its_pool_is_measured_is_named(validated: Validated) -> None:
    validated.pool("losing", fabrics=("one", "one"))
    _, gone = validated.machines("losing")
    file = validated.folder.parent / "run" / FILE
    file.write_text(json.dumps([{"fault": "lost", "node": gone}]))
    try:
        outcome = validated.run("up", "losing", timeout=12)
    finally:
        file.unlink()
    assert not outcome.succeeded
    assert "Waited in vain for job losing/losing-validate-" in outcome.said
    assert f"node {gone} is not Ready (NodeStatusUnknown: Kubelet stopped posting node status.)" in outcome.said
    assert "likely cause: the machine is off, restarts or is cut off" in outcome.said
    assert f"next: kubectl describe node {gone}" in outcome.said


FAULTS: dict[str, tuple[list[dict[str, Any]], str, str, str]] = {
    "slow": (
        [{"fault": "slow", "device": "mlx5_3", "factor": 0.5}],
        "rdma-write-bandwidth",
        "{node} (mlx5_3)",
        "whose HCAs do not fall short with others",
    ),
    "no way to GPUs": (
        [{"fault": "closed-kernel-modules"}, {"fault": "no-peermem"}],
        "collective-transport",
        "",
        "nvidia-peermem is not loaded",
    ),
}
"""By name: the faults; check, place and cause that the failed update's table has of them."""
SICK_GPUS: Final[tuple[tuple[dict[str, Any], str, str], ...]] = (
    ({"fault": "throttled-gpu", "gpu": 2, "factor": 0.3}, "gpu-throttling", "Trainings wait for their slowest GPU"),
    ({"fault": "slow-gpu", "gpu": 3, "factor": 0.6}, "gpu-rate", "it is steadily low"),
    ({"fault": "half-lanes", "gpu": 5}, "gpu-pcie", "fewer lanes"),
    ({"fault": "gpu-memory", "gpu": 6}, "gpu-memory", "so that rows are replaced"),
)
"""Fault, and the check and the cause in the failed update's table."""


@pytest.fixture(scope="module")
def pool(validated: Validated) -> str:
    validated.pool("faulty", fabrics=("one", "one"))
    return "faulty"


def updated_with(faults: list[dict[str, Any]], validated: Validated, pool: str) -> Outcome:
    file = validated.folder.parent / "run" / FILE
    file.write_text(json.dumps(faults))
    try:
        return validated.run("up", pool)
    finally:
        file.unlink()


@pytest.mark.field_report("C11")
def test_where_packages_are_not_to_be_had_the_update_fails_at_once_and_says_what_to_do(
    validated: Validated, pool: str
) -> None:
    outcome = updated_with([{"fault": "no-packages"}], validated, pool)
    assert not outcome.succeeded
    told = " ".join(outcome.said.split())
    assert f"image {NCCL_IMAGE} has no Python, and packages python3 ibverbs-providers could not be installed" in told
    assert "Temporary failure resolving 'archive.ubuntu.com'" in told
    assert "name an image with Python in validation.image" in told


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_fault_fails_the_update_and_is_explained(validated: Validated, pool: str, fault: str) -> None:
    faults, check, where, cause = FAULTS[fault]
    _, node = validated.machines(pool)
    outcome = updated_with([{**entry, "node": node} for entry in faults], validated, pool)
    assert not outcome.succeeded
    assert node in outcome.said
    assert_explained(outcome, check, where.format(node=node), cause)
    assert f"next: kubectl -n {pool} get configmap {pool}-validation-report -o jsonpath=" in outcome.said
    assert "run `pulumi up` again" in outcome.said


@pytest.mark.long
def test_sick_gpus_fail_the_update_and_each_is_explained(validated: Validated, pool: str) -> None:
    _, node = validated.machines(pool)
    outcome = updated_with([{**fault, "node": node} for fault, _, _ in SICK_GPUS], validated, pool)
    assert not outcome.succeeded
    for fault, check, cause in SICK_GPUS:
        assert_explained(outcome, check, f"{node} (GPU {fault['gpu']} at ", cause)


def assert_explained(outcome: Outcome, check: str, place: str, cause: str) -> None:
    """The failed update's table has a row of the check that begins with the place and has the cause."""
    place = place.replace(" ", "")
    assert [row for row in rows(outcome.said) if row[0] == check and row[1].startswith(place) and cause in row[2]], (
        outcome.said
    )
