"""The doctor reads a cluster with requests that change nothing, and with no others than its page says."""

import re
from typing import Any

import yaml
from aks_infiniband.resources.metadata import NETWORK_OPERATOR_NAMESPACE
from aks_infiniband_cli.doctor.examine import examine
from aks_infiniband_cli.doctor.read import read

from tests.snippets import snippets
from tests.unit.command_line.cases.reading import Cluster
from tests.unit.command_line.doctor.sick_clusters import sick


def asked_for(path: str) -> tuple[str, str]:
    """API group and resource of a request's path."""
    parts = path.strip("/").split("/")
    group = "" if parts[0] == "api" else parts[1]
    return group, "pods/log" if parts[-1] == "log" else parts[-1]


ASKED_FOR_MOST = ("ofed-storage-modules", "webhook-silent")
"""Symptoms for which logs, and those who answer webhooks, are read."""


def test_it_asks_for_nothing_but_what_its_page_grants_and_changes_nothing() -> None:
    """The server answers GET only."""
    cluster = Cluster(sick(*ASKED_FOR_MOST))
    with cluster.served() as kubeconfig:
        assert read(kubeconfig).view.unread == []
    [role] = [document for text in snippets("doctor.md", "yaml") for document in yaml.safe_load_all(text)]
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"get", "list"}
    granted = {
        (group, resource) for rule in role["rules"] for group in rule["apiGroups"] for resource in rule["resources"]
    }
    assert {asked_for(path) for path, _ in cluster.asked} - {("", "secrets")} == granted
    for resource in ("secrets", "configmaps", "endpointslices"):
        of_all = [path for path, _ in cluster.asked if path.endswith(f"/{resource}") and "/namespaces/" not in path]
        assert of_all == [], f"{resource} are read where they matter alone"


def failed_pod(number: int, namespace: str, **more: Any) -> dict[str, Any]:
    """A pod whose only container has ended badly."""
    ended = {"terminated": {"exitCode": 1, "reason": "Error"}}
    return {
        "kind": "Pod",
        "metadata": {"name": f"failed-{number}", "namespace": namespace},
        "spec": {"containers": [{"name": "main", **more}]},
        "status": {"phase": "Failed", "containerStatuses": [{"name": "main", "ready": False, "state": ended}]},
    }


def test_logs_of_drivers_are_read_before_those_of_workloads_and_it_says_how_many_it_left_out() -> None:
    cluster = Cluster(sick("ofed-storage-modules"))
    on_hardware = {"resources": {"requests": {"rdma/shared_ib": "1"}}}
    cluster.objects[:0] = [failed_pod(number, "apps", **on_hardware) for number in range(45)]
    cluster.objects[:0] = [failed_pod(number, "shop") for number in range(45)]
    with cluster.served() as kubeconfig:
        snapshot = read(kubeconfig)
    assert len(cluster.logs_read) == 40
    assert cluster.logs_read[0] == NETWORK_OPERATOR_NAMESPACE
    assert "shop" not in cluster.logs_read, "what others run is nobody's business here"
    assert "ofed-storage-modules" in {diagnosis.symptom.id for diagnosis in examine(snapshot)}
    [left_out] = snapshot.view.unread
    assert re.fullmatch(r"the logs of \d more pods, for 40 are read: apps/failed-\d+, .* and others", left_out)


def test_a_report_counts_in_the_validations_namespace_alone() -> None:
    """In other namespaces every user who may write a ConfigMap could have made one, to have machines replaced that are
    fine.
    """
    cluster = Cluster(sick("validation-failed"))
    *_, own = [item for item in cluster.objects if item["kind"] == "ConfigMap" and "report.json" in item["data"]]
    namespaces = ("team", NETWORK_OPERATOR_NAMESPACE)
    forged = [{**own, "metadata": {**own["metadata"], "name": "rdma-devices-own", "namespace": n}} for n in namespaces]
    cluster.objects += forged
    with cluster.served() as kubeconfig:
        for namespace, name in (("aks-infiniband-system", "ndh100-validation-report"), ("team", "rdma-devices-own")):
            found = [diagnosis.about for diagnosis in examine(read(kubeconfig, namespace=namespace))]
            assert found == [f"ConfigMap {namespace}/{name}"], "a program may have its validations in another one"
    assert [path for path, _ in cluster.asked if path.endswith("/configmaps") and "/namespaces/" not in path] == []
