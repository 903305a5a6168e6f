"""Documents of DaemonSets and Deployments with what belongs to them, and when a cluster's are ready."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import yaml

from rehearsal.operators.plan import Document, Snapshot, labels_of

_TABLE: Final = Path(__file__).with_name("operands.yaml")
_SCRIPT: Final = "#!/bin/sh\n"
"""Stands for the operand's own script, which does not run here."""
ON_DELETE: Final[Mapping[str, Any]] = {"updateStrategy": {"type": "OnDelete"}}
"""Pods are replaced only when someone deletes them, as drivers' are."""

REQUESTS: Document = {"requests": {"cpu": "10m", "memory": "32Mi"}}
"""An operand's requests when its policy says nothing: the stand-in's own figure, small on any node."""


@cache
def _operands() -> Mapping[str, Document]:
    """The names and mounts of the real operators, by the name of the workload; braces are filled in."""
    operands: Mapping[str, Document] = yaml.safe_load(_TABLE.read_text())
    return operands


def _filled(value: Any, fields: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, fields) for key, item in value.items()}
    return value.format_map(fields) if isinstance(value, str) else value


def workload(
    name: str,
    *,
    pod: Document,
    fields: Mapping[str, str] = MappingProxyType({}),
    since: str | None = None,
    **spec: object,
) -> list[Document]:
    """A DaemonSet of the table (operands.yaml), last, behind its service account and ConfigMap.

    since: the release whose changes count too. spec: further fields; with replicas it is a Deployment.

    name: its key in the table; fields: what is filled in. The pod's own volumes stand before the table's.
    """
    row = _filled(_operands()[name], fields)
    paths = (row.get("hostPaths") or {}) | (row.get("since", {}).get(since) or {})
    account, config = row.get("serviceAccount"), row.get("config")
    volumes = [{"name": key, "hostPath": {"path": path}} for key, path in paths.items() if path]
    if config:
        volumes.append({"name": config["volume"], "configMap": {"name": config["name"]}})
    whole = {
        **({"serviceAccountName": account} if account else {}),
        **pod,
        **({"volumes": all_volumes} if (all_volumes := [*(pod.get("volumes") or []), *volumes]) else {}),
    }
    made = {
        "apiVersion": "apps/v1",
        "kind": "Deployment" if "replicas" in spec else "DaemonSet",
        "metadata": {"name": name.format_map(fields), "labels": row.get("labels") or {}},
        "spec": {
            "selector": {"matchLabels": row["selector"]},
            "template": {"metadata": {"labels": row["podLabels"]}, "spec": whole},
            **({} if "replicas" in spec else {"updateStrategy": {"type": "RollingUpdate"}}),
            **spec,
        },
    }
    return [
        *([{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account}}] if account else []),
        *([config_map(config["name"], {config["key"]: _SCRIPT})] if config else []),
        made,
    ]


def config_map(name: str, data: Mapping[str, str]) -> Document:
    """A ConfigMap; its namespace comes with its owner."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": dict(data)}


def available(deployment: Document) -> bool:
    """True if a Deployment has the condition Available, for the specification that it has now."""
    status = deployment.get("status") or {}
    return status.get("observedGeneration", 0) >= deployment["metadata"].get("generation", 0) and any(
        condition["type"] == "Available" and condition["status"] == "True"
        for condition in status.get("conditions") or ()
    )


def counts(daemon_set: Document) -> tuple[int, int, int] | None:
    """Desired, available and updated pods; None until the controller has seen the specification that there is now."""
    status = daemon_set.get("status") or {}
    if status.get("observedGeneration", 0) < daemon_set["metadata"].get("generation", 0) or not status:
        return None
    return (
        status.get("desiredNumberScheduled", 0),
        status.get("numberAvailable", 0),
        status.get("updatedNumberScheduled", 0),
    )


def pod_ready(pod: Document) -> bool:
    """True if all containers of a pod are ready, and it is not on its way out."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return bool(statuses) and all(s.get("ready") for s in statuses) and "deletionTimestamp" not in pod["metadata"]


def pods_of(daemon_set: Document, snapshot: Snapshot) -> list[Document]:
    """Pods that a DaemonSet owns."""
    uid = daemon_set["metadata"].get("uid")
    return [
        pod
        for pod in snapshot.of("Pod", namespace=daemon_set["metadata"].get("namespace"))
        if any(owner["uid"] == uid for owner in pod["metadata"].get("ownerReferences") or ())
    ]


def latest_revision(daemon_set: Document, snapshot: Snapshot) -> str | None:
    """Value of the label `controller-revision-hash` that a pod of the DaemonSet's present template has."""
    uid = daemon_set["metadata"].get("uid")
    revisions: Sequence[Document] = [
        revision
        for revision in snapshot.of("ControllerRevision", namespace=daemon_set["metadata"].get("namespace"))
        if any(owner["uid"] == uid for owner in revision["metadata"].get("ownerReferences") or ())
    ]
    if not revisions:
        return None
    return labels_of(max(revisions, key=lambda revision: int(revision["revision"]))).get("controller-revision-hash")


def outdated(pod: Document, revision: str | None) -> bool:
    """True if a pod was made from an older template than the revision's."""
    return revision is not None and labels_of(pod).get("controller-revision-hash") != revision
