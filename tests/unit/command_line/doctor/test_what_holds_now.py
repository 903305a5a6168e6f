"""The doctor reports the current state: events of objects that are gone, repaired or only share the name count for
nothing.
"""

import re
from typing import Any

import pytest
from aks_infiniband.resources.metadata import NETWORK_OPERATOR_NAMESPACE
from aks_infiniband_cli.doctor.catalogue import catalogue
from aks_infiniband_cli.doctor.examine import examine
from aks_infiniband_cli.doctor.looks.operands import operator_namespaces, operator_version
from aks_infiniband_cli.doctor.snapshot import Snapshot

from tests.unit.command_line.doctor.sick_clusters import healthy, sick


def symptoms(cluster: Snapshot) -> list[str]:
    return [diagnosis.symptom.id for diagnosis in examine(cluster)]


def the(cluster: Snapshot, kind: str, name: str) -> Any:
    [found] = [item for item in cluster.of_kind(kind) if item["metadata"]["name"] == name]
    return found


@pytest.mark.parametrize("refused", ["pod-security-refuses", "quota-exceeded", "webhook-silent"])
def test_a_refusal_of_a_job_that_was_deleted_is_not_told(refused: str) -> None:
    cluster = sick(refused)
    assert set(symptoms(cluster)) == {refused}
    cluster.view.jobs.clear()
    cluster.list_of("ValidatingWebhookConfiguration")[:] = [
        item for item in cluster.others if item["kind"] != "ValidatingWebhookConfiguration"
    ]
    assert symptoms(cluster) == []


@pytest.mark.parametrize("refused", ["pod-security-refuses", "quota-exceeded", "webhook-silent"])
def test_a_refusal_of_an_earlier_job_of_the_name_is_not_told_of_the_new_one(refused: str) -> None:
    cluster = sick(refused)
    job = the(cluster, "Job", "train")
    job["metadata"] |= {"uid": "job-2", "creationTimestamp": cluster.read_at.isoformat()}
    job["status"] = {"active": 2}
    assert [found.about for found in examine(cluster) if found.about.startswith("Job")] == []


@pytest.mark.parametrize("refused", ["pod-security-refuses", "quota-exceeded", "webhook-silent"])
def test_a_refusal_of_a_job_that_has_its_pods_now_is_not_told(refused: str) -> None:
    cluster = sick(refused)
    the(cluster, "Job", "train")["status"] = {"active": 2}
    assert [found.about for found in examine(cluster) if found.about.startswith("Job")] == []


def test_a_namespace_that_was_mended_no_longer_refuses_though_its_job_has_not_tried_again() -> None:
    cluster = sick("pod-security-refuses")
    the(cluster, "Namespace", "apps")["metadata"]["labels"] = {"pod-security.kubernetes.io/enforce": "privileged"}
    assert "pod-security-refuses" not in symptoms(cluster)


def test_a_quota_that_was_raised_no_longer_refuses() -> None:
    cluster = sick("quota-exceeded")
    quota = the(cluster, "ResourceQuota", "team")
    quota["spec"] = {"hard": {"pods": "10"}}
    quota["status"] = {"hard": {"pods": "10"}, "used": {"pods": "0"}}
    assert "quota-exceeded" not in symptoms(cluster)


def test_a_webhook_that_is_answered_again_is_not_told() -> None:
    cluster = sick("webhook-silent")
    the(cluster, "Job", "train")["status"] = {"active": 2}
    cluster.others.append(
        {
            "kind": "EndpointSlice",
            "metadata": {"name": "checks-1", "namespace": "team", "labels": {"kubernetes.io/service-name": "checks"}},
            "endpoints": [{"conditions": {"ready": True}}],
        }
    )
    assert symptoms(cluster) == []


def test_a_new_pod_with_an_old_pods_name_is_not_blamed_for_what_the_old_one_met() -> None:
    cluster = sick("ipoib-no-parent")
    [event] = cluster.view.events
    event["involvedObject"]["uid"] = "the old one"
    next(pod for pod in cluster.view.pods if pod["metadata"]["name"] == "solver-0")["metadata"]["uid"] = "the new one"
    assert symptoms(cluster) == []


def test_the_newest_event_of_a_pod_counts() -> None:
    cluster = sick("ipoib-no-parent")
    [event] = cluster.view.events
    older = {**event, "lastTimestamp": "2026-11-23T10:00:00Z", "message": "no free addresses in the pool"}
    newer = {**event, "lastTimestamp": "2026-11-23T11:00:00Z"}
    cluster.view.events[:] = [newer, older]
    assert symptoms(cluster) == ["ipoib-no-parent"]


@pytest.mark.parametrize("image", ["network-operator:v25.1.0", "k8s-rdma-shared-dev-plugin:v1"])
def test_a_tenant_that_runs_an_operators_image_is_no_operator(image: str) -> None:
    cluster = healthy("dev")
    cluster.view.deployments.insert(
        0,
        {
            "kind": "Deployment",
            "metadata": {"name": "mine", "namespace": "team"},
            "spec": {"replicas": 0, "template": {"spec": {"containers": [{"name": "c", "image": f"there/{image}"}]}}},
            "status": {},
        },
    )
    assert operator_namespaces(cluster) == {NETWORK_OPERATOR_NAMESPACE, "gpu-operator"}
    assert operator_version(cluster, "network-operator") == "26.4.1"
    assert symptoms(cluster) == []


@pytest.mark.parametrize("unread", ["Deployments", "DaemonSets", "NicClusterPolicy", "ClusterPolicy", "Jobs", "pods"])
def test_what_could_not_be_read_is_not_called_missing(unread: str) -> None:
    cluster = healthy("mixed")
    kind = {"pods": "Pod", "NicClusterPolicy": unread, "ClusterPolicy": unread}.get(unread, unread[:-1])
    kept = [item for item in cluster.list_of(kind) if item["kind"] != kind]
    cluster.list_of(kind)[:] = kept
    cluster.view.unread.append(f"{unread}: forbidden")
    assert symptoms(cluster) == []


@pytest.mark.parametrize("symptom", catalogue())
def test_what_helps_can_be_typed_as_it_stands(symptom: str) -> None:
    for found in examine(sick(symptom)):
        assert not re.search(r"\b(NODE|NEIGHBOUR|NAMESPACE|NAME)\b", found.fix), found.fix


def test_images_by_digest_are_known_by_their_names() -> None:
    cluster = healthy("mixed")
    for item in (*cluster.view.daemon_sets, *cluster.view.deployments):
        for container in item["spec"]["template"]["spec"]["containers"]:
            container["image"] = container["image"].partition(":")[0] + "@sha256:" + 64 * "0"
    assert symptoms(cluster) == []


def test_taints_of_nodes_that_belong_to_no_pool_are_not_compared() -> None:
    cluster = sick("node-tainted")
    for node in cluster.view.nodes:
        node["metadata"]["labels"].pop("kubernetes.azure.com/agentpool", None)
    assert "node-tainted" not in symptoms(cluster)
