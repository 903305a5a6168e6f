"""The stack `dra`: pods claim their HCAs, and Kubernetes' own scheduler allocates them from what dranet publishes.

The tests follow one another.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband.facts.versions import VALIDATION_IMAGE
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from lightkube.generic_resource import create_global_resource
from lightkube.resources.core_v1 import Event

from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.samples import completed_sample
from tests.rehearsal.shell import shell
from tests.rehearsal.waiting import eventually

from .conftest import Stack
from .light_checks import checked

pytestmark = pytest.mark.long
STACK = "dra"
POOL = "ndh100"
ResourceSlice = create_global_resource("resource.k8s.io", "v1", "ResourceSlice", "resourceslices")


@pytest.fixture(scope="module", autouse=True)
def checks(stack: Stack) -> None:
    """The stack with a scheduled check, which claims HCAs too."""
    stack.settings(lightCheck={"schedule": "0 0 29 2 *"})


def published(stack: Stack) -> dict[str, list[dict[str, Any]]]:
    """The devices that dranet publishes, by node."""
    slices = [dict(found) for found in stack.cluster().list(ResourceSlice)]
    return {found["spec"]["nodeName"]: found["spec"]["devices"] for found in slices}


def claims(name: str, *, count: int, constraints: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """A ResourceClaimTemplate for some HCAs."""
    request = {"name": "hca", "exactly": {"deviceClassName": "infiniband.dra.net", "count": count}}
    devices = {"requests": [request], **({"constraints": constraints} if constraints else {})}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": "aks-infiniband"},
        "spec": {"spec": {"devices": devices}},
    }


def job(name: str, template: dict[str, Any], *, pods: int) -> dict[str, Any]:
    """A Job whose pods are the pool's, but with the claims of the template of this name, and without GPUs."""
    spec = dict(template["spec"])
    (main,) = spec["containers"]
    named = [{**claim, "resourceClaimTemplateName": name} for claim in spec["resourceClaims"]]
    listing = "import os; print(*os.listdir('/dev/infiniband'), sep='\\n')"
    own = {
        "image": VALIDATION_IMAGE,
        "command": ["python3", "-c", listing],
        "resources": {"claims": main["resources"]["claims"]},
    }
    spec |= {"restartPolicy": "Never", "resourceClaims": named, "containers": [{**main, **own}]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "aks-infiniband"},
        "spec": {"parallelism": pods, "completions": pods, "template": {"spec": spec}},
    }


def cannot_allocate(stack: Stack, namespace: str, pod: str) -> bool:
    """True if the scheduler has said of a pod, by the beginning of its name, that its claim cannot be met."""
    events = [event.to_dict() for event in stack.cluster().list(Event, namespace=namespace)]
    return any(
        event["reason"] == "FailedScheduling"
        and event["involvedObject"]["name"].startswith(pod)
        and "cannot allocate all claims" in event["message"]
        for event in events
    )


def test_pods_of_the_validation_get_every_hca_by_a_claim_and_the_pool_passes(stack: Stack, brought_up: Outcome) -> None:
    assert stack.verdicts() == {POOL: "pass"}
    nodes = stack.nodes(agentpool=POOL)
    assert not any(name.startswith("rdma/") for node in nodes for name in node["status"]["allocatable"])
    devices = published(stack)
    assert sorted(devices) == sorted(node["metadata"]["name"] for node in nodes)
    for of_node in devices.values():
        assert len(of_node) == 8, "the HCAs, and not the Ethernet device of the default route"
        assert not any("dra.net/ifName" in device["attributes"] for device in of_node)


def test_the_scheduled_check_claims_every_hca_of_idle_nodes(stack: Stack, brought_up: Outcome) -> None:
    report = checked(stack, POOL, "claimed")
    states = report["nodes"].values()
    assert [(state["healthy"], len(state["bandwidth"])) for state in states] == [(True, 8)] * len(
        stack.nodes(agentpool=POOL)
    )


def test_the_sample_job_sees_every_hca_of_every_machine(stack: Stack, brought_up: Outcome, tmp_path: Path) -> None:
    sample = completed_sample(stack.rehearsal, POOL, folder=tmp_path)
    assert len(sample.nodes) == 2
    assert sample.shown.count("4: ACTIVE, 400 Gb/sec (4X NDR)") == 2 * 8


def test_pods_that_claim_a_part_of_a_machine_see_that_part_alone(
    stack: Stack, brought_up: Outcome, tmp_path: Path
) -> None:
    template = stack.workload(POOL)["podTemplate"]
    items = [claims("part", count=4), job("part", template, pods=4)]
    (tmp_path / "part.yaml").write_text(yaml.safe_dump_all(items))
    script = """
kubectl apply --filename part.yaml
kubectl wait --for=condition=complete job/part --namespace aks-infiniband --timeout=120s
kubectl logs --selector job-name=part --namespace aks-infiniband --tail=-1 --prefix > shown.log
kubectl get pods --selector job-name=part --namespace aks-infiniband --output json > pods.json
kubectl delete --filename part.yaml
"""
    shell(stack.rehearsal, script, folder=tmp_path)
    nodes = {pod["spec"]["nodeName"] for pod in json.loads((tmp_path / "pods.json").read_text())["items"]}
    assert len(nodes) == 2
    shown: dict[str, list[str]] = {}
    for line in (tmp_path / "shown.log").read_text().splitlines():
        pod, _, name = line.partition(" ")
        shown.setdefault(pod, []).append(name)
    assert [sum(name.startswith("uverbs") for name in names) for names in shown.values()] == [4] * 4


def test_no_two_devices_of_a_machine_share_a_pci_root_so_a_claim_that_asks_for_it_stays_pending(
    stack: Stack, brought_up: Outcome, tmp_path: Path
) -> None:
    template = stack.workload(POOL)["podTemplate"]
    root = [{"requests": ["hca"], "matchAttribute": "resource.kubernetes.io/pcieRoot"}]
    items = [claims("root", count=2, constraints=root), job("root", template, pods=1)]
    (tmp_path / "root.yaml").write_text(yaml.safe_dump_all(items))
    shell(stack.rehearsal, "kubectl apply --filename root.yaml", folder=tmp_path)

    eventually(lambda: cannot_allocate(stack, "aks-infiniband", "root-"), seconds=60)
    shell(stack.rehearsal, "kubectl delete --filename root.yaml", folder=tmp_path)


def test_while_the_driver_ends_it_publishes_nothing_and_claims_wait_until_it_runs_again(
    stack: Stack, brought_up: Outcome, tmp_path: Path
) -> None:
    template = stack.workload(POOL)["podTemplate"]
    (tmp_path / "late.yaml").write_text(yaml.safe_dump_all([claims("late", count=8), job("late", template, pods=1)]))
    with stack.broken("crash", pod="dranet-*", message="no NRI"):
        restart = "kubectl delete pods --namespace aks-infiniband-system --selector app=dranet"
        shell(stack.rehearsal, f"{restart}\nkubectl apply --filename late.yaml", folder=tmp_path)
        eventually(lambda: published(stack) == {}, seconds=60)
        eventually(lambda: cannot_allocate(stack, "aks-infiniband", "late-"), seconds=60)
    eventually(lambda: len(published(stack)) == 2, seconds=60)
    ended = "kubectl wait --for=condition=complete job/late --namespace aks-infiniband --timeout=120s"
    shell(stack.rehearsal, f"{ended}\nkubectl delete --filename late.yaml", folder=tmp_path)


def test_a_node_that_lost_an_hca_gets_no_pod_and_the_failed_update_says_that_it_is_missing(
    stack: Stack, brought_up: Outcome
) -> None:
    with stack.broken("missing", node="*000001", device="mlx5_3"):
        eventually(lambda: sorted(len(devices) for devices in published(stack).values()) == [7, 8], seconds=60)
        stack.settings(readiness={"timeoutSeconds": 40}, validation={"timeoutSeconds": 60})
        outcome = stack.up()
    assert not outcome.succeeded
    assert "the pods of the other nodes are Pending or have failed" in " ".join(outcome.said.split()), outcome.said
    assert cannot_allocate(stack, SYSTEM_NAMESPACE, f"{POOL}-validate-")
