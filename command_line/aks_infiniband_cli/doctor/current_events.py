"""Events describe the past; they outlive the objects, the causes and the troubles that they are about.

Only events that still hold count: the very object is there (by its uid), it is not well again, and the refusal of its
pods would happen again now.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from aks_infiniband.diagnosis.view import Object, condition, in_namespace, is_about

from aks_infiniband_cli.doctor.snapshot import Snapshot, labels_of

ENFORCE: Final = "pod-security.kubernetes.io/enforce"
STRICT: Final = ("baseline", "restricted")
"""Pod Security levels that admit no driver."""
_READ: Final = ("Pod", "DaemonSet", "Job", "ReplicaSet", "StatefulSet")
"""Kinds of which a snapshot has all objects, if they could be read."""
_QUOTA: Final = re.compile(r"exceeded quota: ([^,]+),.*limited: (.+)$", re.DOTALL)
_WEBHOOK: Final = re.compile(r"""(?:failed calling|admission) webhook "([^"]+)\"""")


def with_current_events(snapshot: Snapshot) -> Snapshot:
    """The snapshot without events of objects that are gone or well, and without refusals that are over."""
    kept = [event for event in snapshot.view.events if _counts(event, snapshot)]
    return replace(snapshot, view=replace(snapshot.view, events=kept))


def _counts(event: Object, snapshot: Snapshot) -> bool:
    kind = str(event["involvedObject"].get("kind"))
    if kind not in _READ or not snapshot.was_read("pods" if kind == "Pod" else f"{kind}s"):
        return True
    about = [item for item in snapshot.of_kind(kind) if is_about(event, kind, item)]
    return any(_lacks_pods(item, kind) for item in about) and _still_refused(event, snapshot)


def _lacks_pods(item: Object, kind: str) -> bool:
    """True if a pod has not started, or if the maker of pods has fewer than it should."""
    spec, status = item.get("spec") or {}, item.get("status") or {}
    if kind == "Pod":
        return bool(status.get("phase") == "Pending")
    if kind == "DaemonSet":
        wanted = int(status.get("desiredNumberScheduled", 0))
        return bool(min(status.get("currentNumberScheduled", 0), status.get("numberReady", 0)) < wanted)
    if kind == "Job":
        return job_lacks_pods(item)
    return bool(status.get("replicas", 0) < spec.get("replicas", 1))


def job_lacks_pods(job: Object) -> bool:
    """True if a Job that has not ended, and is not suspended, has fewer pods than it should."""
    spec, status = job.get("spec") or {}, job.get("status") or {}
    ended = any(condition(job, kind).get("status") == "True" for kind in ("Complete", "Failed", "FailureTarget"))
    if ended or spec.get("suspend"):
        return False
    parallel = spec.get("parallelism", 1)
    left = spec.get("completions", parallel) - status.get("succeeded", 0)
    return bool(status.get("active", 0) < min(parallel, left))


def _still_refused(event: Object, snapshot: Snapshot) -> bool:
    """True if the reason that kept a pod from being made is still there. Unknown words count as yes."""
    message, namespace = str(event.get("message")), str(event["involvedObject"].get("namespace"))
    if "violates PodSecurity" in message:
        levels = [
            labels_of(item).get(ENFORCE)
            for item in snapshot.of_kind("Namespace")
            if item["metadata"]["name"] == namespace
        ]
        return not levels or levels[0] in STRICT
    if quota := _QUOTA.search(message):
        return any(_limits(item, quota[2]) for item in _quotas(snapshot, namespace, quota[1]))
    if webhook := _WEBHOOK.search(message):
        return any(name == webhook[1] for name, _ in webhooks_of(snapshot))
    return True


def _quotas(snapshot: Snapshot, namespace: str, name: str) -> list[Object]:
    there = in_namespace(snapshot.of_kind("ResourceQuota"), namespace)
    return [quota for quota in there if quota["metadata"]["name"] == name]


def _limits(quota: Object, limited: str) -> bool:
    """True if a quota still has one of the limits of a refusal, such as `pods=0,requests.memory=1Gi`."""
    hard: Mapping[str, Any] = (quota.get("spec") or {}).get("hard") or {}
    return any(str(hard.get(key)) == value for key, _, value in (pair.partition("=") for pair in limited.split(",")))


def webhooks_of(snapshot: Snapshot) -> list[tuple[str, Object]]:
    """Every webhook's name, and the configuration that it stands in."""
    kinds = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
    return [
        (str(webhook.get("name")), configuration)
        for configuration in snapshot.of_kind(*kinds)
        for webhook in configuration.get("webhooks") or []
    ]
