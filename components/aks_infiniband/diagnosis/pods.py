"""Findings about pods: why one is Pending, cannot start, or failed."""

from collections.abc import Mapping, Sequence
from typing import Any

from aks_infiniband.diagnosis.log_lines import cause_in
from aks_infiniband.diagnosis.nodes import lacking
from aks_infiniband.diagnosis.view import (
    Finding,
    Object,
    View,
    condition,
    container_statuses,
    in_namespace,
    matches,
    name_of,
)

_WAITING_CAUSES = {
    "ErrImagePull": "the image or its registry cannot be reached, or pulls are throttled",
    "ImagePullBackOff": "the image or its registry cannot be reached, or pulls are throttled",
    "InvalidImageName": "the image setting is not a valid image reference",
    "CreateContainerConfigError": "a ConfigMap or Secret that the pod refers to does not exist",
    "CreateContainerError": "the container runtime refused the container",
    "RunContainerError": "the container runtime refused the container",
    "CrashLoopBackOff": None,
}
_SANDBOX_CAUSES = (
    (
        "no free addresses",
        "the node's block of the IPoIB network is used up: raise networkOperator.ipoib.addressesPerNode",
    ),
    ("configuration for pool", "the IPPool has no block for this node: its selector does not match, or none is left"),
    ("Link not found", "the IPoIB network's parent interface does not exist on this node: set the pool's ipoibDevices"),
    (
        "cannot find a network-attachment-definition",
        "the annotation names a network that does not exist: write it as namespace/name",
    ),
)
"""What CNI plugins say (nvidia-k8s-ipam, ipoib-cni and multus-cni: their own error texts)."""


def pod_findings(pods: Sequence[Object], view: View) -> list[Finding]:
    """One finding for every pod that is not doing what it should."""
    findings = []
    for pod in pods:
        finding = _finding(pod, view)
        if finding is not None:
            findings.append(finding)
    return findings


def _finding(pod: Object, view: View) -> Finding | None:
    phase = pod.get("status", {}).get("phase")
    if phase == "Succeeded":
        return None
    scheduled = condition(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        return _unscheduled(pod, scheduled, view)
    for status in container_statuses(pod):
        finding = _container(pod, status, view)
        if finding is not None:
            return finding
    if phase == "Pending":
        return _no_sandbox(pod, view)
    if phase == "Failed":
        reason = pod["status"].get("reason") or "no reason given"
        return Finding(what=f"pod {name_of(pod)} failed: {reason} {pod['status'].get('message', '')}".rstrip())
    return None


def _unscheduled(pod: Object, scheduled: Mapping[str, Any], view: View) -> Finding:
    what = f"pod {name_of(pod)} is Pending: {scheduled.get('message') or scheduled.get('reason') or 'not scheduled'}"
    selector = pod["spec"].get("nodeSelector") or {}
    candidates = [node for node in view.nodes if matches(node["metadata"].get("labels"), selector)]
    if selector and not candidates:
        wanted = ", ".join(f"{key}={value}" for key, value in selector.items())
        cause = f"no node carries all of the labels {wanted}"
        return Finding(what=what, cause=cause, command=_describe(pod))
    missing, taken = [], []
    for resource, amount in sorted(_extended_requests(pod).items()):
        names = lacking(candidates, resource, amount)
        if names:
            missing.append(f"{resource} (asks for {amount}) is missing on {', '.join(names)}")
        elif f"Insufficient {resource}" in what:
            taken.append(f"{resource} (asks for {amount}) is held by other pods")
    return Finding(what=what, cause="; ".join([*missing, *taken]) or None, command=_describe(pod))


def _no_sandbox(pod: Object, view: View) -> Finding | None:
    """A pod that has a node and gets no network: the kubelet's last word on it."""
    said = [
        str(event.get("message"))
        for event in in_namespace(view.events, str(pod["metadata"].get("namespace")))
        if event.get("reason") == "FailedCreatePodSandBox"
        and event["involvedObject"].get("name") == pod["metadata"]["name"]
    ]
    if not said:
        return None
    cause = next((cause for needle, cause in _SANDBOX_CAUSES if needle in said[-1]), None)
    return Finding(
        what=f"pod {name_of(pod)}{_on_node(pod)} gets no network: {said[-1]}", cause=cause, command=_describe(pod)
    )


def _extended_requests(pod: Object) -> dict[str, int]:
    """Requests of resources that a device plugin offers: those with a domain in their name."""
    total: dict[str, int] = {}
    for container in pod["spec"].get("containers") or []:
        for resource, amount in ((container.get("resources") or {}).get("requests") or {}).items():
            if "/" in resource:
                total[resource] = total.get(resource, 0) + int(amount)
    return total


def _container(pod: Object, status: Mapping[str, Any], view: View) -> Finding | None:
    state = status.get("state") or {}
    waiting = state.get("waiting") or {}
    ended = state.get("terminated") or (status.get("lastState") or {}).get("terminated") or {}
    where = f"pod {name_of(pod)}{_on_node(pod)}, container {status.get('name')}"
    log = view.logs.get(name_of(pod), "")
    tail = f"\nlast lines of its log:\n{log}" if log else ""
    if waiting.get("reason") in _WAITING_CAUSES:
        reason = waiting["reason"]
        message = (ended.get("message") if reason == "CrashLoopBackOff" else None) or waiting.get("message") or ""
        cause = cause_in(f"{message}\n{log}") or _WAITING_CAUSES[reason]
        return Finding(what=f"{where}: {reason} {message}".rstrip() + tail, cause=cause, command=_logs(pod, status))
    if (state.get("terminated") or {}).get("exitCode", 0) != 0:
        message = ended.get("message") or ended.get("reason") or ""
        what = f"{where}: exit code {ended['exitCode']}: {message}".rstrip(": ")
        tail = "" if ended.get("message") else tail
        return Finding(what=what + tail, cause=cause_in(f"{message}\n{log}"), command=_logs(pod, status))
    if (
        state.get("running") is not None
        and not status.get("ready")
        and condition(pod, "Ready").get("status") == "False"
    ):
        return Finding(what=f"{where} runs and is not ready{tail}", cause=cause_in(log), command=_logs(pod, status))
    return None


def _on_node(pod: Object) -> str:
    node = pod["spec"].get("nodeName")
    return f" on {node}" if node else ""


def _describe(pod: Object) -> str:
    return f"kubectl -n {pod['metadata'].get('namespace')} describe pod {pod['metadata']['name']}"


def _logs(pod: Object, status: Mapping[str, Any]) -> str:
    metadata = pod["metadata"]
    return f"kubectl -n {metadata.get('namespace')} logs {metadata['name']} -c {status.get('name')} --tail=50"
