"""The obstacles to new pods: Pod Security, policies, quotas, and webhooks that do not answer."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from aks_infiniband.diagnosis.asks import asks_of
from aks_infiniband.diagnosis.ownership import owner_of
from aks_infiniband.diagnosis.view import Finding, Object, in_namespace, labelled, name_of, owners_of, shown_by
from aks_infiniband.facts.words import ADMISSION, found_in
from aks_infiniband.resources.quantities import quantity

from aks_infiniband_cli.doctor.current_events import ENFORCE, STRICT, job_lacks_pods
from aks_infiniband_cli.doctor.looks.operands import operator_namespaces
from aks_infiniband_cli.doctor.snapshot import Snapshot, labels_of

_PATIENCE: Final = timedelta(minutes=1)
"""Seconds after which a Job without a pod will not get one by itself."""


def namespaces(snapshot: Snapshot) -> Iterator[Finding]:
    """Namespaces of the operators that refuse their pods."""
    theirs = operator_namespaces(snapshot)
    for namespace in snapshot.of_kind("Namespace"):
        level = labels_of(namespace).get(ENFORCE)
        if namespace["metadata"]["name"] in theirs and level in STRICT:
            what = f"namespace {name_of(namespace)} has the label {ENFORCE}={level}"
            yield Finding(symptom="namespace-not-privileged", about=f"namespace {name_of(namespace)}", what=what)


def refusals(snapshot: Snapshot) -> Iterator[Finding]:
    """Current refusals of pods, by the events of the objects that make pods."""
    for event in snapshot.view.events:
        about = event["involvedObject"]
        refused = found_in(str(event.get("message")), ADMISSION) if event.get("reason") == "FailedCreate" else None
        if refused:
            name = f"{about.get('kind')} {about.get('namespace')}/{about.get('name')}"
            command = (
                f"kubectl -n {about.get('namespace')} describe {str(about.get('kind')).lower()} {about.get('name')}"
            )
            yield Finding(symptom=refused.id, about=name, what=f"{name}: {event['message']}", command=command)


def jobs_without_pods(snapshot: Snapshot) -> Iterator[Finding]:
    """Jobs for this hardware without a pod and without an event that says why, because events are kept for an hour."""
    spoken_of = {str(event["involvedObject"].get("name")) for event in snapshot.view.events}
    owners = {owner.get("uid") for pod in snapshot.view.pods for owner in owners_of(pod)}
    for job in snapshot.view.jobs if snapshot.was_read("pods") else ():
        made = job["metadata"].get("creationTimestamp")
        young = not made or snapshot.read_at - datetime.fromisoformat(str(made).replace("Z", "+00:00")) < _PATIENCE
        if young or not job_lacks_pods(job) or job["metadata"].get("uid") in owners or not _ours(job, snapshot):
            continue
        used_up = next(filter(None, (_used_up(quota) for quota in _quotas(snapshot, job))), None)
        if used_up:
            yield shown_by("Job", job, "quota-exceeded", f" has no pod; {used_up}")
        elif job["metadata"]["name"] not in spoken_of:
            yield shown_by("Job", job, "job-without-pod", " does not have a pod, and no event says why")


def _ours(job: Object, snapshot: Snapshot) -> bool:
    return asks_of(job["spec"]["template"]).hardware or owner_of(job, ours=snapshot.validations_in) == "ours"


def _quotas(snapshot: Snapshot, job: Object) -> list[Object]:
    return in_namespace(snapshot.of_kind("ResourceQuota"), str(job["metadata"].get("namespace")))


def _used_up(quota: Object) -> str:
    """The resources that a quota has used up; empty if something of everything is left."""
    status: Mapping[str, Any] = quota.get("status") or {}
    hard, used = status.get("hard") or (quota.get("spec") or {}).get("hard") or {}, status.get("used") or {}
    gone = [key for key, most in hard.items() if quantity(used.get(key, 0)) >= quantity(most)]
    return f"ResourceQuota {name_of(quota)} has nothing left of {', '.join(sorted(gone))}" if gone else ""


def webhooks(snapshot: Snapshot) -> Iterator[Finding]:
    """Webhooks that must answer about every pod, but whose service lacks a pod."""
    slices = snapshot.of_kind("EndpointSlice")
    for configuration, webhook, service in snapshot.webhook_services():
        namespace, name = str(service.get("namespace")), str(service.get("name"))
        known = snapshot.was_read(f"EndpointSlices in {namespace}")
        if (
            not known
            or webhook.get("failurePolicy", "Fail") != "Fail"
            or not any(map(_of_pods, webhook.get("rules") or []))
        ):
            continue
        own = labelled(in_namespace(slices, namespace), {"kubernetes.io/service-name": name})
        if not any(_answers(endpoint) for item in own for endpoint in item.get("endpoints") or []):
            kind = str(configuration["kind"])
            what = f": webhook {webhook.get('name')} calls service {namespace}/{name}, and no pod answers there"
            yield shown_by(kind, configuration, "webhook-silent", what)


def _of_pods(rule: Mapping[str, Any]) -> bool:
    operations, resources = rule.get("operations") or [], rule.get("resources") or []
    groups = rule.get("apiGroups") or []
    return bool({"CREATE", "*"} & {*operations} and {"pods", "*", "*/*"} & {*resources} and {"", "*"} & {*groups})


def _answers(endpoint: Mapping[str, Any]) -> bool:
    ready = (endpoint.get("conditions") or {}).get("ready")
    return ready is None or bool(ready)
