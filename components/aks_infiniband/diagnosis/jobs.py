"""Findings about a Job: how it ended, and what its pods show."""

from collections.abc import Callable

from aks_infiniband.diagnosis.pods import pod_findings
from aks_infiniband.diagnosis.view import Finding, Object, View, Wait, condition, describe, in_namespace, name_of


def find_job(view: View, wait: Wait) -> Object | None:
    """The Job that was waited for."""
    jobs = in_namespace(view.jobs, wait.namespace)
    return next((job for job in jobs if job["metadata"]["name"] == wait.name), None)


def job_findings(wait: Wait, view: View, *, leave_out: Callable[[Object], bool] = lambda _: False) -> list[Finding]:
    """How the Job ended, and its pods.

    leave_out: whether what a pod shows has been said already.
    """
    name, namespace = wait.name, wait.namespace
    job = find_job(view, wait)
    if job is None:
        return [Finding(what=f"Job {namespace}/{name} does not exist", command=f"kubectl -n {namespace} get jobs")]
    failed = condition(job, "Failed") or condition(job, "FailureTarget")
    uid = job["metadata"].get("uid")
    pods = [
        pod
        for pod in in_namespace(view.pods, namespace)
        if any(owner.get("uid") == uid for owner in pod["metadata"].get("ownerReferences") or [])
    ]
    findings = []
    if failed:
        what = f"Job {name_of(job)} failed: {failed.get('reason')}: {failed.get('message')}"
        findings.append(Finding(what=what, command=describe("job", job)))
    findings += pod_findings([pod for pod in pods if not leave_out(pod)], view)
    if failed:
        findings += pod_findings(_never_scheduled(job, view), view)
    elif not pods:
        findings.append(Finding(what=f"Job {name_of(job)} has no pod", command=describe("job", job)))
    return findings


def _never_scheduled(job: Object, view: View) -> list[Object]:
    """The pods that were Pending till the end of the Job deleted them, as the scheduler's events show them.

    The provider's time-out starts again with everything that happens to the pods, so the Job's own deadline may come
    first.
    """
    namespace = str(job["metadata"].get("namespace"))
    present = {pod["metadata"]["name"] for pod in in_namespace(view.pods, namespace)}
    last: dict[str, Object] = {}
    for event in sorted(in_namespace(view.events, namespace), key=_seen):
        about = event["involvedObject"]
        if about.get("kind") == "Pod" and str(about.get("name")).startswith(f"{job['metadata']['name']}-"):
            last[str(about["name"])] = event
    return [
        {
            "metadata": {"name": name, "namespace": namespace},
            "spec": job["spec"]["template"]["spec"],
            "status": {"phase": "Pending", "conditions": [_unscheduled(str(event.get("message")))]},
        }
        for name, event in sorted(last.items())
        if name not in present and event.get("reason") == "FailedScheduling"
    ]


def _seen(event: Object) -> str:
    """When an event happened last, in ISO 8601."""
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return str(next(filter(None, times), ""))


def _unscheduled(message: str) -> Object:
    return {"type": "PodScheduled", "status": "False", "message": f"{message} (the Job's end has deleted the pod)"}
