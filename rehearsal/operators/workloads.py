"""Documents of DaemonSets and Deployments, and when a cluster's are ready."""

from collections.abc import Mapping, Sequence

from rehearsal.operators.plan import Document, Snapshot, labels_of

REQUESTS: Document = {"requests": {"cpu": "10m", "memory": "32Mi"}}
"""What an operand asks for when its policy says nothing: the stand-in's own figure, small beside any node."""


def daemon_set(
    name: str,
    *,
    selector: Mapping[str, str],
    pod: Document,
    pod_labels: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    on_delete: bool = False,
) -> Document:
    """A DaemonSet whose pods carry the selector's labels and more.

    on_delete: pods are replaced only when someone deletes them, as drivers' are.
    """
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "labels": {**selector, **(labels or {})}},
        "spec": {
            "selector": {"matchLabels": dict(selector)},
            "updateStrategy": {"type": "OnDelete" if on_delete else "RollingUpdate"},
            "template": {"metadata": {"labels": {**selector, **(pod_labels or {})}}, "spec": pod},
        },
    }


def deployment(name: str, *, selector: Mapping[str, str], pod: Document) -> Document:
    """A Deployment of one pod."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": dict(selector)},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": dict(selector)},
            "template": {"metadata": {"labels": dict(selector)}, "spec": pod},
        },
    }


def config_map(name: str, data: Mapping[str, str]) -> Document:
    """A ConfigMap; its namespace comes with its owner."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": dict(data)}


def available(deployment: Document) -> bool:
    """Whether a Deployment has the condition Available, for the specification that it has now."""
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
    """Whether all containers of a pod are ready, and it is not on its way out."""
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
    """Whether a pod was made from an older template than the revision's."""
    return revision is not None and labels_of(pod).get("controller-revision-hash") != revision
