"""The doctor reads a cluster with requests that change nothing, and with no others than its page says."""

import copy
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from aks_infiniband.resources.metadata import NETWORK_OPERATOR_NAMESPACE
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.doctor.examine import examine
from aks_infiniband_cli.doctor.read import read

from tests.snippets import snippets
from tests.unit.command_line.doctor.sick_clusters import healthy, sick


class Cluster:
    """An API server on loopback that has a recorded cluster, and notes its requests."""

    def __init__(self, snapshot: Any, refused: str = "") -> None:
        self.objects = [dict(item) for item in snapshot.objects()]
        self.logs, self.undefined = snapshot.view.logs, snapshot.undefined
        self.refused = refused
        self.asked: list[tuple[str, str]] = []
        self.accepted: list[tuple[str, str]] = []
        cluster = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                cluster.asked.append((self.command, self.path))
                cluster.accepted.append((self.path, self.headers.get("Accept", "")))
                status, body = cluster.answer(self.path)
                self.send_response(status)
                kind = "text/plain" if cluster.is_log(self.path) else "application/json"
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Not on the terminal."""

        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            setattr(Handler, f"do_{method}", Handler.answer)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def is_log(self, path: str) -> bool:
        return urlsplit(path).path.endswith("/log")

    def answer(self, path: str) -> tuple[int, bytes]:
        url = urlsplit(path)
        parts = url.path.strip("/").split("/")
        namespace = parts[parts.index("namespaces") + 1] if "namespaces" in parts[:-1] else None
        if parts[-1] == self.refused:
            return 403, json.dumps({"kind": "Status", "message": f"{self.refused} is forbidden"}).encode()
        if self.is_log(path):
            return 200, self.logs.get(f"{namespace}/{parts[-2]}", "").encode()
        found = [item for item in self.objects if plural(item["kind"]) == parts[-1]]
        if namespace:
            found = [item for item in found if item["metadata"].get("namespace") == namespace]
        wanted = dict(pair.split("=") for pair in parse_qs(url.query).get("labelSelector", [""])[0].split(",") if pair)
        found = [item for item in found if wanted.items() <= (item["metadata"].get("labels") or {}).items()]
        if any(plural(kind) == parts[-1] for kind in self.undefined):
            return 404, b'{"kind": "Status"}'
        items: list[Any] | None = [whole(item) for item in found]
        if parts[-1] == "secrets":
            items = items or None  # for metadata alone the API server lists null if there is nothing
        return 200, json.dumps({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": items}).encode()

    @property
    def kubeconfig(self) -> str:
        server = f"http://127.0.0.1:{self.server.server_port}"
        return json.dumps(
            {
                "clusters": [{"name": "c", "cluster": {"server": server}}],
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                "users": [{"name": "u", "user": {"token": "t"}}],
                "current-context": "c",
            }
        )


NODE_INFO = ("architecture", "bootID", "kubeProxyVersion", "machineID", "operatingSystem", "systemUUID")


def whole(recorded: dict[str, Any]) -> dict[str, Any]:
    """A recorded object with what the API says is always there, and the recording has left out."""
    item = copy.deepcopy(recorded)
    status = item.get("status") or {}
    if item["kind"] == "Node":
        status["nodeInfo"] = dict.fromkeys(NODE_INFO, "") | status["nodeInfo"]
    if item["kind"] in ("DaemonSet", "Deployment", "ReplicaSet"):
        item["spec"]["selector"] = {}
    if item["kind"] == "DaemonSet":
        item["status"] = {"currentNumberScheduled": 0, "numberMisscheduled": 0, "numberReady": 0} | status
    for webhook in item.get("webhooks") or []:
        webhook |= {"admissionReviewVersions": ["v1"], "sideEffects": "None"}
    for owner in item["metadata"].get("ownerReferences") or []:
        owner["apiVersion"] = "v1"
    if item["kind"] == "ReplicaSet":
        status.setdefault("replicas", 0)
    for name in ("initContainerStatuses", "containerStatuses"):
        for container in status.get(name) or []:
            container |= {"image": "", "imageID": "", "restartCount": 0}
    return item


def plural(kind: str) -> str:
    """As a path of the API writes a kind."""
    if kind == "NetworkAttachmentDefinition":
        return "network-attachment-definitions"
    lower = kind.lower()
    return f"{lower[:-1]}ies" if lower.endswith("y") else f"{lower}s"


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    made = request.param()
    yield made
    made.server.shutdown()
    made.server.server_close()


def asked_for(path: str) -> tuple[str, str]:
    """API group and resource of a request's path."""
    parts = urlsplit(path).path.strip("/").split("/")
    group = "" if parts[0] == "api" else parts[1]
    return group, "pods/log" if parts[-1] == "log" else parts[-1]


ASKED_FOR_MOST = ("ofed-storage-modules", "webhook-silent")
"""Symptoms for which logs, and those who answer webhooks, are read."""


@pytest.mark.parametrize("cluster", [lambda: Cluster(sick(*ASKED_FOR_MOST))], indirect=True, ids=["sick"])
def test_it_asks_for_nothing_but_what_its_page_grants_and_changes_nothing(cluster: Cluster) -> None:
    assert read(cluster.kubeconfig).view.unread == []
    [role] = [document for text in snippets("doctor.md", "yaml") for document in yaml.safe_load_all(text)]
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"get", "list"}
    granted = {
        (group, resource) for rule in role["rules"] for group in rule["apiGroups"] for resource in rule["resources"]
    }
    assert {method for method, _ in cluster.asked} == {"GET"}
    assert {asked_for(path) for _, path in cluster.asked} - {("", "secrets")} == granted
    for resource in ("secrets", "configmaps", "endpointslices"):
        of_all = [path for _, path in cluster.asked if path.endswith(f"/{resource}") and "/namespaces/" not in path]
        assert of_all == [], f"{resource} are read where they matter alone"


@pytest.mark.parametrize("cluster", [lambda: Cluster(healthy("mixed"))], indirect=True, ids=["healthy"])
def test_a_healthy_cluster_is_read_without_a_complaint_and_without_a_log(cluster: Cluster) -> None:
    snapshot = read(cluster.kubeconfig)
    assert (examine(snapshot), snapshot.view.unread) == ([], [])
    assert [path for _, path in cluster.asked if cluster.is_log(path)] == []


@pytest.mark.parametrize("cluster", [lambda: Cluster(healthy("dev"))], indirect=True, ids=["healthy"])
def test_of_helms_records_the_metadata_is_asked_for_and_nothing_else(cluster: Cluster) -> None:
    snapshot = read(cluster.kubeconfig)
    records = [accept for path, accept in cluster.accepted if urlsplit(path).path.endswith("/secrets")]
    assert len(records) == 2
    assert all("as=PartialObjectMetadataList" in accept for accept in records)
    assert len(snapshot.view.release_secrets) == 2


def failed_pod(number: int, namespace: str, **more: Any) -> dict[str, Any]:
    """A pod whose only container has ended badly."""
    ended = {"terminated": {"exitCode": 1, "reason": "Error"}}
    return {
        "kind": "Pod",
        "metadata": {"name": f"failed-{number}", "namespace": namespace},
        "spec": {"containers": [{"name": "main", **more}]},
        "status": {"phase": "Failed", "containerStatuses": [{"name": "main", "ready": False, "state": ended}]},
    }


@pytest.mark.parametrize("cluster", [lambda: Cluster(sick("ofed-storage-modules"))], indirect=True, ids=["sick"])
def test_logs_of_drivers_are_read_before_those_of_workloads_and_it_says_how_many_it_left_out(cluster: Cluster) -> None:
    on_hardware = {"resources": {"requests": {"rdma/shared_ib": "1"}}}
    cluster.objects[:0] = [failed_pod(number, "apps", **on_hardware) for number in range(45)]
    cluster.objects[:0] = [failed_pod(number, "shop") for number in range(45)]
    snapshot = read(cluster.kubeconfig)
    logs = [urlsplit(path).path.split("/")[4] for _, path in cluster.asked if cluster.is_log(path)]
    assert len(logs) == 40
    assert logs[0] == NETWORK_OPERATOR_NAMESPACE
    assert "shop" not in logs, "what others run is nobody's business here"
    assert "ofed-storage-modules" in {diagnosis.symptom.id for diagnosis in examine(snapshot)}
    [left_out] = snapshot.view.unread
    assert re.fullmatch(r"the logs of \d more pods, for 40 are read: apps/failed-\d+, .* and others", left_out)


@pytest.mark.parametrize("cluster", [lambda: Cluster(sick("ofed-storage-modules"))], indirect=True, ids=["sick"])
def test_what_it_reads_is_what_it_examines(cluster: Cluster) -> None:
    assert {diagnosis.symptom.id for diagnosis in examine(read(cluster.kubeconfig))} == {"ofed-storage-modules"}


@pytest.mark.parametrize("cluster", [lambda: Cluster(sick("validation-failed"))], indirect=True, ids=["report"])
def test_a_report_counts_in_the_validations_namespace_alone(cluster: Cluster) -> None:
    """In other namespaces every user who may write a ConfigMap could have made one, to have machines replaced that are
    fine.
    """
    *_, own = [item for item in cluster.objects if item["kind"] == "ConfigMap" and "report.json" in item["data"]]
    namespaces = ("team", NETWORK_OPERATOR_NAMESPACE)
    forged = [{**own, "metadata": {**own["metadata"], "name": "rdma-devices-own", "namespace": n}} for n in namespaces]
    cluster.objects += forged
    found = [diagnosis.about for diagnosis in examine(read(cluster.kubeconfig))]
    assert found == ["ConfigMap aks-infiniband-system/ndh100-validation-report"]
    in_team = [diagnosis.about for diagnosis in examine(read(cluster.kubeconfig, namespace="team"))]
    assert in_team == ["ConfigMap team/rdma-devices-own"], "where a program has its validations there"
    assert [path for _, path in cluster.asked if path.endswith("/configmaps") and "/namespaces/" not in path] == []


@pytest.mark.parametrize("cluster", [lambda: Cluster(sick("definitions-stale"))], indirect=True, ids=["stale"])
def test_a_kind_that_the_api_server_does_not_know_is_no_failure(cluster: Cluster) -> None:
    snapshot = read(cluster.kubeconfig)
    assert snapshot.view.unread == []
    assert {diagnosis.symptom.id for diagnosis in examine(snapshot)} == {"definitions-stale"}


def without_releases() -> Cluster:
    made = Cluster(healthy("dev"))
    made.objects = [item for item in made.objects if item["kind"] != "Secret"]
    return made


@pytest.mark.parametrize("cluster", [without_releases], indirect=True, ids=["no-releases"])
def test_namespaces_without_a_release_of_helm_are_read(cluster: Cluster) -> None:
    assert read(cluster.kubeconfig).view.unread == []


@pytest.mark.parametrize(
    "cluster", [lambda: Cluster(healthy("dev"), refused="secrets")], indirect=True, ids=["no-secrets"]
)
def test_what_may_not_be_read_is_named_and_the_rest_is_looked_at(cluster: Cluster) -> None:
    snapshot = read(cluster.kubeconfig)
    assert len(snapshot.view.unread) == 2
    assert snapshot.view.unread[0] == "Helm's records in gpu-operator: ApiError: secrets is forbidden"
    assert examine(snapshot) == []


@pytest.mark.parametrize("cluster", [lambda: Cluster(healthy("dev"), refused="nodes")], indirect=True, ids=["no-nodes"])
def test_a_cluster_that_gives_no_nodes_is_no_answer(cluster: Cluster) -> None:
    with pytest.raises(CommandError, match=r"no node could be read: nodes: .*forbidden"):
        read(cluster.kubeconfig)


def test_a_login_that_has_expired_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(healthy("dev"))
    refusal = {"kind": "Status", "apiVersion": "v1", "message": "Unauthorized", "reason": "Unauthorized", "code": 401}
    monkeypatch.setattr(cluster, "answer", lambda _: (401, json.dumps(refusal).encode()))
    with pytest.raises(CommandError, match=r"the login has expired, .*; log in again \(az login, or the kubeconfig's"):
        read(cluster.kubeconfig)
    cluster.server.shutdown()
    cluster.server.server_close()
