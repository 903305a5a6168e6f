"""Findings about pods, why they are Pending, cannot start or failed; and about a Job: how it ended, and its pods."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from aks_infiniband.diagnosis.asks import asks_of, by_device_plugin
from aks_infiniband.diagnosis.nodes import lacking
from aks_infiniband.diagnosis.ownership import is_over, operator_namespaces, owner_of, trusted_namespaces
from aks_infiniband.diagnosis.view import (
    Finding,
    Object,
    View,
    Wait,
    condition,
    container_statuses,
    describe,
    in_namespace,
    is_unready,
    labelled,
    last_word,
    name_of,
    owners_of,
    pairs,
    seen,
    why_not_made,
)
from aks_infiniband.facts.words import ADMISSION, CLAIMS, DRIVERS, ENDS, HARDWARE, RUNTIME, SANDBOX, Words, found_in
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from aks_infiniband.resources.quantities import shown

_PULL = ("image-not-pulled", "the image or its registry cannot be reached, or pulls are throttled")
_REFUSED = ("container-refused", "the container runtime refused the container")
_WAITING = {
    "ErrImagePull": _PULL,
    "ImagePullBackOff": _PULL,
    "InvalidImageName": ("image-name", "the image setting is not a valid image reference"),
    "CreateContainerConfigError": ("config-missing", "a ConfigMap or Secret that the pod refers to does not exist"),
    "CreateContainerError": _REFUSED,
    "RunContainerError": _REFUSED,
    "CrashLoopBackOff": ("container-fails", None),
}
"""Symptom and likely cause, by why a container waits."""
_FAILED_POD = "BackoffLimitExceeded"
"""The reasons of a Job that failed because a pod failed. Its other pods are deleted then; the failed pod stays."""
_DELETED = (
    "a pod of it was deleted while it ran: none that failed is left. A person deleted it (kubectl delete pod) or "
    "its node went; nothing else is known to be wrong"
)
_LACKS = {
    "FailedCreatePodSandBox": ("no network", SANDBOX, "pod-without-sandbox"),
    "FailedPrepareDynamicResources": ("no device of its claims", CLAIMS, "claim-not-prepared"),
}
"""The thing that a pod on a node does not get, by the reason of the kubelet's event; the words that are known of it,
and the symptom if they are not.
"""
_OF_THE_RUNTIME = ("ContainerCannotRun", "StartError", "ContainerStatusUnknown")
"""Reasons of a container's end whose message is the runtime's, not the program's."""
_DRIVER_IN_USE = "driver-in-use"
_FAILED = {"UnexpectedAdmissionError": "admission"}
"""Symptom, by why a pod failed without a container."""


def pod_findings(pods: Sequence[Object], view: View, *, ours: str = SYSTEM_NAMESPACE) -> list[Finding]:
    """One finding for every pod that is not doing what it should.

    ours: the namespace of the validations, or of whatever of ours is waited for.
    """
    findings = ((pod, _finding(pod, view, ours)) for pod in pods)
    return [replace(finding, about=f"pod {name_of(pod)}") for pod, finding in findings if finding is not None]


def _finding(pod: Object, view: View, ours: str) -> Finding | None:
    phase = pod.get("status", {}).get("phase")
    if phase == "Succeeded":
        return None
    scheduled = condition(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        return _unscheduled(pod, scheduled, view)
    for status in container_statuses(pod):
        finding = _container(pod, status, view, ours)
        if finding is not None:
            return finding
    if phase == "Pending":
        return _no_sandbox(pod, view)
    return _failed(pod) if phase == "Failed" else None


def _failed(pod: Object) -> Finding:
    """A pod that failed without a container: what the kubelet, or the controller that took it away, says."""
    reason, message = pod["status"].get("reason") or "no reason given", str(pod["status"].get("message") or "")
    what = f"pod {name_of(pod)} failed: {reason} {message}".rstrip()
    disrupted = condition(pod, "DisruptionTarget").get("reason", "")
    known = found_in(message, (*DRIVERS, *HARDWARE))
    if known is None and reason not in _FAILED:
        known = found_in(f"{reason} {message}", ENDS) or found_in(disrupted, ENDS)
    symptom = (known and known.id) or _FAILED.get(reason, "pod-failed")
    return Finding(symptom=symptom, what=what, cause=str(known) if known else None)


def _unscheduled(pod: Object, scheduled: Mapping[str, Any], view: View) -> Finding:
    what = f"pod {name_of(pod)} is Pending: {scheduled.get('message') or scheduled.get('reason') or 'not scheduled'}"
    if gates := [str(gate.get("name")) for gate in pod["spec"].get("schedulingGates") or []]:
        return _gated(pod, gates)
    selector = pod["spec"].get("nodeSelector") or {}
    candidates = labelled(view.nodes, selector)
    if selector and not candidates:
        cause = f"no node carries all of the labels {pairs(selector)}"
        return Finding(symptom="pending-no-such-node", what=what, cause=cause, command=describe("pod", pod))
    missing, taken = [], []
    for resource, amount in sorted(asks_of(pod).resources.items()):
        names = lacking(candidates, resource, amount) if by_device_plugin(resource) else []
        # A pod without a node selector was not meant for nodes that lack the resource.
        if names and (selector or len(names) == len(candidates)):
            missing.append(f"{resource} (asks for {shown(amount)}) is missing on {', '.join(names)}")
        elif f"Insufficient {resource}" in what:
            taken.append(f"{resource} (requests {shown(amount)}) is held by other pods")
    otherwise = "pending-taint" if "untolerated taint" in what else "pending"
    symptom = "pending-resource-missing" if missing else "pending-resource-taken" if taken else otherwise
    told = "; ".join([*missing, *taken]) or None
    return Finding(symptom=symptom, what=what, cause=told, command=describe("pod", pod))


def _gated(pod: Object, gates: Sequence[str]) -> Finding:
    """A pod that the scheduler does not see yet, because a program holds it."""
    name, namespace = name_of(pod), pod["metadata"].get("namespace")
    what = f"pod {name} is held back from the scheduler by the gate {', '.join(gates)}"
    if any(gate.startswith("kueue.x-k8s.io/") for gate in gates):
        cause = "Kueue has not admitted its Workload, or has found no place in the topology for it"
        command = f"kubectl -n {namespace} get workloads"
        return Finding(symptom="pending-gated", what=what, cause=cause, command=command)
    return Finding(symptom="pending-gated", what=what, command=describe("pod", pod))


def _no_sandbox(pod: Object, view: View) -> Finding | None:
    """A pod that has a node and gets no network, or no device of a claim: the kubelet's last word on it."""
    told = [(said, *cause) for reason, cause in _LACKS.items() if (said := _last_of(view, reason, pod))]
    if not told:
        return None
    said, lacks, messages, otherwise = told[0]
    what = f"pod {name_of(pod)}{_on_node(pod)} gets {lacks}: {said}"
    message = found_in(said, messages)
    return Finding(
        symptom=(message and message.id) or otherwise,
        what=what,
        cause=str(message) if message else None,
        command=describe("pod", pod),
    )


def _last_of(view: View, reason: str, pod: Object) -> str | None:
    return last_word([event for event in view.events if event.get("reason") == reason], "Pod", pod)


def _container(pod: Object, status: Mapping[str, Any], view: View, ours: str) -> Finding | None:
    state = status.get("state") or {}
    waiting = state.get("waiting") or {}
    ended = state.get("terminated") or (status.get("lastState") or {}).get("terminated") or {}
    where = f"pod {name_of(pod)}{_on_node(pod)}, container {status.get('name')}"
    log = view.logs.get(name_of(pod), "")
    tail = f"\nlast lines of its log:\n{log}" if log else ""
    cause, symptom, told = None, "container-not-ready", ""
    if waiting.get("reason") in _WAITING:
        reason, told = waiting["reason"], str(waiting.get("message") or "")
        message = (ended.get("message") if reason == "CrashLoopBackOff" else None) or waiting.get("message") or ""
        what = f"{where}: {reason} {message}".rstrip() + tail
        symptom, cause = _WAITING[reason]
    elif (state.get("terminated") or {}).get("exitCode", 0) != 0:
        symptom, message = "container-fails", ended.get("message") or ended.get("reason") or ""
        tail = "" if ended.get("message") else tail
        what = f"{where}: exit code {ended['exitCode']}: {message}".rstrip(": ") + tail
    elif is_unready(pod, status):
        message, what = "", f"{where} runs and is not ready{tail}"
    else:
        return None
    command = f"kubectl -n {pod['metadata'].get('namespace')} logs {pod['metadata']['name']} -c {status.get('name')}"
    if ended.get("reason") in _OF_THE_RUNTIME:
        told = f"{told}\n{ended.get('message') or ''}"
    fix = None
    trusted = owner_of(pod, {*operator_namespaces(view), *trusted_namespaces(view)}, ours) != "another"
    cause = _ended(ended) or cause
    if known := _known(told, f"{message}\n{log}", trusted=trusted):
        symptom, cause = known.id or symptom, str(known)
        if symptom == _DRIVER_IN_USE and (holders := _holders_of_gpus(pod, view)):
            cause = f"{', '.join(holders[:3])} holds the node's GPUs, and with them the driver that is to be replaced"
            fix = f"end {', '.join(holders[:3])}, then delete pod {name_of(pod)}, whose next try unloads the driver"
    return Finding(symptom=symptom, what=what, cause=cause, fix=fix, command=f"{command} --tail=50")


def _ended(ended: Mapping[str, Any]) -> str | None:
    """Why a container ended, if the kubelet's reason alone says it."""
    known = found_in(str(ended.get("reason") or ""), ENDS)
    return str(known) if known else None


def _known(told: str, own: str, *, trusted: bool) -> Words | None:
    """The known message among the words of a container that fails, counted by who has written them.

    told: by the kubelet and the runtime. own: by the container's program. A workload's program writes what it likes, so
    of its words only those on hardware and drivers count.
    """
    theirs = (*DRIVERS, *HARDWARE) if trusted else HARDWARE
    return found_in(told, (*RUNTIME, *DRIVERS, *HARDWARE)) or found_in(own, theirs)


def _holders_of_gpus(driver: Object, view: View) -> list[str]:
    """The pods that hold GPUs of the node of a driver's pod."""
    node = driver["spec"].get("nodeName")
    there = [pod for pod in view.pods if pod["spec"].get("nodeName") == node and not is_over(pod)]
    return [f"pod {name_of(pod)}" for pod in there if asks_of(pod).gpus]


def _on_node(pod: Object) -> str:
    node = pod["spec"].get("nodeName")
    return f" on {node}" if node else ""


def find_job(view: View, wait: Wait) -> Object | None:
    """The Job that was waited for."""
    jobs = in_namespace(view.jobs, wait.namespace)
    return next((job for job in jobs if job["metadata"]["name"] == wait.name), None)


def job_findings(wait: Wait, view: View, *, leave_out: Callable[[Object], bool] = lambda _: False) -> list[Finding]:
    """The end of the Job, and its pods.

    leave_out: whether what a pod shows has been said already.
    """
    name, namespace = wait.name, wait.namespace
    job = find_job(view, wait)
    if job is None:
        return [Finding(what=f"Job {namespace}/{name} does not exist", command=f"kubectl -n {namespace} get jobs")]
    failed = condition(job, "Failed") or condition(job, "FailureTarget")
    uid = job["metadata"].get("uid")
    pods = [
        pod for pod in in_namespace(view.pods, namespace) if any(owner.get("uid") == uid for owner in owners_of(pod))
    ]
    findings = []
    if failed:
        what = f"Job {name_of(job)} failed: {failed.get('reason')}: {failed.get('message')}"
        deleted = failed.get("reason") == _FAILED_POD and not any(_has_failed(pod) for pod in pods)
        findings.append(Finding(what=what, cause=_DELETED if deleted else None, command=describe("job", job)))
    findings += pod_findings([pod for pod in pods if not leave_out(pod)], view, ours=namespace)
    if failed:
        findings += pod_findings(_never_started(job, view), view, ours=namespace)
    if not pods and ((refused := why_not_made("Job", job, view)) or not failed):
        what = f"Job {name_of(job)} has no pod{refused and f': {refused}'}"
        known = found_in(refused, ADMISSION)
        findings.append(Finding(what=what, cause=str(known) if known else None, command=describe("job", job)))
    return findings


def _has_failed(pod: Object) -> bool:
    return bool(pod.get("status", {}).get("phase") == "Failed")


def _never_started(job: Object, view: View) -> list[Object]:
    """The pods that were Pending until the end of the Job deleted them. Events of scheduler and kubelet show them.

    Everything that happens to a pod starts the provider's time-out again, so the Job's own deadline may come first.
    """
    namespace = str(job["metadata"].get("namespace"))
    present = {pod["metadata"]["name"] for pod in in_namespace(view.pods, namespace)}
    last: dict[str, Object] = {}
    for event in sorted(in_namespace(view.events, namespace), key=seen):
        about = event["involvedObject"]
        if about.get("kind") == "Pod" and str(about.get("name")).startswith(f"{job['metadata']['name']}-"):
            last[str(about["name"])] = event
    return [
        {
            "metadata": {"name": name, "namespace": namespace},
            "spec": {**job["spec"]["template"]["spec"], "nodeName": (event.get("source") or {}).get("host")},
            "status": {"phase": "Pending", "conditions": _never_placed(event)},
        }
        for name, event in sorted(last.items())
        if name not in present and event.get("reason") in ("FailedScheduling", *_LACKS)
    ]


def _never_placed(event: Object) -> list[Object]:
    if event.get("reason") != "FailedScheduling":
        return []
    message = f"{event.get('message')} (the Job's end has deleted the pod)"
    return [{"type": "PodScheduled", "status": "False", "message": message}]
