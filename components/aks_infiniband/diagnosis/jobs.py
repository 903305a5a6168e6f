"""Findings about a Job of ours: how it ended, what its pods said, and which checks failed."""

from aks_infiniband.diagnosis.pods import pod_findings
from aks_infiniband.diagnosis.report_table import report_findings, report_of_run
from aks_infiniband.diagnosis.view import Finding, Object, View, condition, in_namespace, name_of
from aks_infiniband.validation.payload.outcome import EXIT_VERDICT


def job_findings(view: View, name: str, namespace: str) -> list[Finding]:
    """What its report says, how the Job ended, and its pods."""
    jobs = [job for job in in_namespace(view.jobs, namespace) if job["metadata"]["name"] == name]
    if not jobs:
        return [Finding(what=f"Job {namespace}/{name} does not exist", command=f"kubectl -n {namespace} get jobs")]
    job = jobs[0]
    failed = condition(job, "Failed") or condition(job, "FailureTarget")
    uid = job["metadata"].get("uid")
    pods = [
        pod
        for pod in in_namespace(view.pods, namespace)
        if any(owner.get("uid") == uid for owner in pod["metadata"].get("ownerReferences") or [])
    ]
    report = report_of_run(in_namespace(view.config_maps, namespace), str(uid))
    findings = report_findings(*report) if report else []
    if failed:
        what = f"Job {name_of(job)} failed: {failed.get('reason')}: {failed.get('message')}"
        findings.append(Finding(what=what, command=f"kubectl -n {namespace} describe job {name}"))
    # What a pod with a verdict has to say is in the report, if there is one.
    findings += pod_findings([pod for pod in pods if not (report and _gave_verdict(pod))], view)
    if failed:
        findings += pod_findings(_never_scheduled(job, view), view)
    if not failed and not pods:
        what = f"Job {name_of(job)} has no pod"
        findings.append(Finding(what=what, command=f"kubectl -n {namespace} describe job {name}"))
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


def _gave_verdict(pod: Object) -> bool:
    statuses = pod.get("status", {}).get("containerStatuses") or []
    return any(((one.get("state") or {}).get("terminated") or {}).get("exitCode") == EXIT_VERDICT for one in statuses)
