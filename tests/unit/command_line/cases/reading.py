"""A recorded cluster as an API server has it, and what the doctor reads of it."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import parse_qs

from aks_infiniband_cli.doctor.examine import examine
from aks_infiniband_cli.doctor.read import read

from tests.cases import Case
from tests.unit.command_line.doctor.sick_clusters import sick
from tests.unit.command_line.loopback import Asked, kubeconfig, serving


class Cluster:
    """An API server that has a recorded cluster, and notes the paths of requests and the types that they accept.

    refused: the resource that the caller may not read; expired: the login is.
    """

    def __init__(self, snapshot: Any, refused: str = "", *, expired: bool = False) -> None:
        self.objects = [dict(item) for item in snapshot.objects()]
        self.logs, self.undefined = snapshot.view.logs, snapshot.undefined
        self.refused, self.expired = refused, expired
        self.asked: list[tuple[str, str]] = []

    @contextmanager
    def served(self) -> Iterator[str]:
        """Answer on loopback, GET only; yields the kubeconfig."""
        with serving(self.answer) as url:
            yield kubeconfig(url)

    @property
    def logs_read(self) -> list[str]:
        """The namespaces of the logs that were read."""
        return [path.split("/")[4] for path, _ in self.asked if path.endswith("/log")]

    def answer(self, path: str, query: str, headers: Asked) -> tuple[int, Any, dict[str, str]]:
        """The answer to a GET."""
        self.asked.append((path, headers.get("Accept", "")))
        if self.expired:
            return 401, {"kind": "Status", "message": "Unauthorized", "reason": "Unauthorized", "code": 401}, {}
        *parts, resource = path.strip("/").split("/")
        namespace = parts[parts.index("namespaces") + 1] if "namespaces" in parts else None
        if resource == self.refused:
            return 403, {"kind": "Status", "message": f"{resource} is forbidden"}, {}
        if resource == "log":
            return 200, self.logs.get(f"{namespace}/{parts[-1]}", "").encode(), {"Content-Type": "text/plain"}
        if any(plural(kind) == resource for kind in self.undefined):
            return 404, {"kind": "Status"}, {}
        wanted = dict(pair.split("=") for pair in parse_qs(query).get("labelSelector", [""])[0].split(",") if pair)
        items: list[Any] | None = [
            whole(item)
            for item in self.objects
            if plural(item["kind"]) == resource
            and namespace in (None, item["metadata"].get("namespace"))
            and wanted.items() <= (item["metadata"].get("labels") or {}).items()
        ]
        if resource == "secrets":
            items = items or None  # for metadata alone the API server lists null if there is nothing
        return 200, {"kind": "List", "apiVersion": "v1", "metadata": {}, "items": items}, {}


_NODE_INFO: Final = ("architecture", "bootID", "kubeProxyVersion", "machineID", "operatingSystem", "systemUUID")


def whole(recorded: dict[str, Any]) -> dict[str, Any]:
    """A recorded object with what the API says is always there, and the recording has left out."""
    item = copy.deepcopy(recorded)
    status = item.get("status") or {}
    if item["kind"] == "Node":
        status["nodeInfo"] = dict.fromkeys(_NODE_INFO, "") | status["nodeInfo"]
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
    """The plural of a kind, as a path of the API has it."""
    if kind == "NetworkAttachmentDefinition":
        return "network-attachment-definitions"
    lower = kind.lower()
    return f"{lower[:-1]}ies" if lower.endswith("y") else f"{lower}s"


def outcome_of_reading(case: Case) -> dict[str, Any]:
    """The doctor's reading of a cluster that `shows` symptoms and was changed by `steps`, and its findings.
    `refused` and `expired` are those of the API server.
    """
    recorded = sick(*case.get("shows", ()), steps=case.get("steps", ()), base=case.get("base"))
    cluster = Cluster(recorded, case.get("refused", ""), expired=case.get("expired", False))
    with cluster.served() as kubeconfig_:
        snapshot = read(kubeconfig_)
    records = [accept.split(";")[1] for path, accept in cluster.asked if path.endswith("/secrets")]
    return {
        "symptoms": sorted({diagnosis.symptom.id for diagnosis in examine(snapshot)}),
        "unread": snapshot.view.unread,
        "logs": sorted({*cluster.logs_read}),
        "Helm's records": {"read": len(snapshot.view.release_secrets), "as": records},
    }
