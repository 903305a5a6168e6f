"""The doctor's answer to a healthy recorded cluster to which a report of others was added."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from aks_infiniband.diagnosis.view import name_of
from aks_infiniband_cli.doctor.examine import Diagnosis, examine

from tests.unit.command_line.doctor.sick_clusters import after, healthy

NODES: Final = tuple(name_of(node) for node in healthy("dev").view.nodes if "ndh100" in name_of(node))
READ_AT: Final = "2026-11-23T18:10:20Z"


def examined(case: Mapping[str, Any]) -> list[Diagnosis]:
    """The doctor's diagnoses of a case; a healthy cluster alone has none."""
    return list(examine(after(_steps(case))))


def _steps(case: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "node" in case:
        yield {"change": f"Node {NODES[0]}", "by": case["node"]}
    for pod in case.get("pods", []):
        yield {"add": _pod(pod)}
        if "log" in pod:
            yield {"logs": {f"{pod.get('namespace', 'default')}/{pod['name']}": pod["log"]}}
    for event in case.get("events", []):
        yield {"add": _event(event)}


def _pod(case: Mapping[str, Any]) -> dict[str, Any]:
    name, asks = case.get("container", "c"), dict(case.get("asks", {}))
    may_lock = {"capabilities": {"add": ["IPC_LOCK"]}}
    container: dict[str, Any] = {"name": name, "image": case.get("image", "i"), "securityContext": may_lock}
    container["resources"] = {"requests": asks, "limits": asks}
    metadata: dict[str, Any] = {
        "name": case["name"],
        "uid": case["name"],
        "namespace": case.get("namespace", "default"),
    }
    metadata["annotations"], metadata["labels"] = case.get("annotations", {}), case.get("labels", {})
    spec: dict[str, Any] = {"containers": [container], "schedulerName": case.get("scheduler", "default-scheduler")}
    if "owner" in case:
        owner = {"apiVersion": "batch/v1", "uid": f"of {case['owner']['name']}", "controller": True}
        metadata["ownerReferences"] = [{**owner, **case["owner"]}]
    if case.get("host"):
        spec["hostNetwork"], container["securityContext"] = True, {"privileged": True}
    if "claims" in case:
        spec["resourceClaims"] = case["claims"]
        container["resources"]["claims"] = [{"name": claim["name"]} for claim in case["claims"]]
    if "sidecar" in case:
        spec["containers"].append({"name": case["sidecar"], "image": "istio/proxyv2:1.27"})
    if "gates" in case:
        spec["schedulingGates"] = [{"name": gate} for gate in case["gates"]]
    if case.get("here") or case.get("there"):
        spec["nodeName"] = NODES[0 if case.get("here") else 1]
    return {"kind": "Pod", "metadata": metadata, "spec": spec, "status": _status(case, name)}


def _status(case: Mapping[str, Any], container: str) -> dict[str, Any]:
    if "unscheduled" in case:
        reason, message = case["unscheduled"]
        scheduled = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
        return {"phase": "Pending", "conditions": [scheduled]}
    placed = {"type": "PodScheduled", "status": "True"}
    if "failed" in case:
        target = {"type": "DisruptionTarget", "status": "True", "reason": case.get("disrupted", "")}
        told = {"reason": case["failed"], "message": case["message"]}
        return {"phase": "Failed", **told, "conditions": [placed, target] if "disrupted" in case else [placed]}
    if case.get("running"):
        ready = {"name": container, "ready": True, "state": {"running": {}}}
        return {"phase": "Running", "conditions": [placed], "containerStatuses": [ready]}
    if "waiting" not in case:
        return {"phase": case["phase"], "conditions": [placed]}
    waiting = {"reason": case["waiting"], "message": case.get("message", "")}
    status: dict[str, Any] = {"name": container, "ready": False, "state": {"waiting": waiting}}
    if case["waiting"] == "CrashLoopBackOff":
        status["lastState"] = {"terminated": {"exitCode": 1, "reason": "Error", **case.get("ended", {})}}
    return {"phase": case.get("phase", "Running"), "conditions": [placed], "containerStatuses": [status]}


def _event(case: Mapping[str, Any]) -> dict[str, Any]:
    about = {"kind": "Pod", "name": case["pod"], "namespace": "default", "uid": case["pod"]}
    metadata = {"name": f"event of {case['pod']}", "namespace": "default"}
    said = {"reason": case["reason"], "message": case["message"], "lastTimestamp": READ_AT}
    return {"kind": "Event", "metadata": metadata, "involvedObject": about, **said}
