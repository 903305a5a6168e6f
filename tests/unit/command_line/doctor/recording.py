"""Writes a recorded cluster from a live one, cut down to what the doctor looks at.

`python -m tests.unit.command_line.doctor.recording KUBECONFIG FILE`, after `make rehearse KEEP=1`.
"""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from aks_infiniband.validation.program import EXPECTATIONS_ANNOTATION
from aks_infiniband.validation.reports import report_in
from aks_infiniband_cli.doctor.read import read

_METADATA: Final = ("name", "namespace", "uid", "creationTimestamp", "labels", "finalizers", "deletionTimestamp")
_ANNOTATION: Final = re.compile(r"k8s\.v1\.cni\.cncf\.io/network")
_NODE_LABELS: Final = re.compile(
    r"node\.kubernetes\.io/instance-type|kubernetes\.azure\.com/(agentpool|mode|node-image-version)"
    r"|feature\.node\.kubernetes\.io/(pci-|kernel-version\.full|system-os_release\.(ID|VERSION_ID)$)"
    r"|example\.com/|network\.nvidia\.com/operator\.mofed"
    r"|nvidia\.com/(gpu\.present|gpu\.deploy\.driver|\w+-driver-upgrade(-state|\.skip))"
)
_POD_LABELS: Final = re.compile(r"app$|app\.kubernetes\.io/(name|part-of|component)|nvidia\.com/ofed-driver")
_CONTAINER: Final = ("name", "image", "resources", "securityContext")
_POLICY: Final = (
    *("ofedDriver", "rdmaSharedDevicePlugin", "sriovDevicePlugin", "secondaryNetwork", "nvIpam"),
    *("nodeAffinity", "nodeSelector", "tolerations", "driver", "toolkit"),
)
"""Sections of the policies."""
_TOLD: Final = (
    "state",
    "reason",
    "appliedStates",
    "allocations",
    "conditions",
    "phase",
    "hard",
    "used",
    "ipoibNetworkAttachmentDef",
)


def cut(item: dict[str, Any]) -> dict[str, Any]:
    """An object without what changes from run to run, or says nothing about health."""
    kind, spec, status = item["kind"], item.get("spec") or {}, item.get("status") or {}
    kept: dict[str, Any] = {"kind": kind, "metadata": _only(item["metadata"], _METADATA)}
    owners = [_only(owner, ("kind", "name", "uid")) for owner in item["metadata"].get("ownerReferences") or []]
    annotations = item["metadata"].get("annotations") or {}
    served = {name: text for name, text in annotations.items() if _ANNOTATION.match(name)}
    kept["metadata"] |= {"ownerReferences": owners, "annotations": served}
    if kind == "Node":
        labels = kept["metadata"]["labels"]
        kept["metadata"]["labels"] = {name: value for name, value in labels.items() if _NODE_LABELS.match(name)}
        kept["spec"] = _only(spec, ("taints", "unschedulable"))
        offered = {name: amount for name, amount in status["allocatable"].items() if "/" in name}
        info = _only(status["nodeInfo"], ("containerRuntimeVersion", "kernelVersion", "kubeletVersion", "osImage"))
        kept["status"] = {
            "allocatable": offered,
            "conditions": _conditions(status, "Ready", "InfiniBandHealthy"),
            "nodeInfo": info,
        }
    elif kind == "Pod":
        labels = kept["metadata"].get("labels") or {}
        kept["metadata"]["labels"] = {name: value for name, value in labels.items() if _POD_LABELS.match(name)}
        kept["spec"] = {**_only(spec, _PLACEMENT), "containers": _containers(spec)}
        states = {name: [_status(told) for told in status.get(name) or []] for name in _STATUSES}
        conditions = _conditions(status, "Ready", "PodScheduled")
        kept["status"] = {**_only(status, ("phase", "reason", "message")), "conditions": conditions, **states}
    elif kind in ("DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet"):
        template = spec["template"]["spec"]
        inner = {**_only(template, ("nodeSelector", "affinity", "tolerations")), "containers": _containers(template)}
        kept["spec"] = {**_only(spec, _COUNTS), "template": {"metadata": _promised(spec), "spec": inner}}
        kept["status"] = {**_only(status, _COUNTED), "conditions": _conditions(status, *_ENDS)}
    elif kind == "Event":
        kept |= _only(item, ("reason", "message", "involvedObject", "lastTimestamp", "eventTime", "series"))
    elif kind.endswith("WebhookConfiguration"):
        kept["webhooks"] = [_only(webhook, _WEBHOOK) for webhook in item.get("webhooks") or []]
    elif kind == "EndpointSlice":
        kept["endpoints"] = [_only(endpoint, ("conditions",)) for endpoint in item.get("endpoints") or []]
    elif "Policy" in kind:
        kept |= {"spec": _only(spec, _POLICY), "status": _only(status, _TOLD)}
    elif kind == "ConfigMap":
        report = report_in(item)
        told = {"report.json": json.dumps(_report(report))} if report else {}
        kept["data"] = {**_only(item.get("data") or {}, ("config.json",)), **told}
    elif kind != "Secret":
        kept |= {"spec": spec, "status": _only(status, _TOLD)}
    whole: dict[str, Any] = _without_nothing(kept)
    return whole


def _promised(spec: dict[str, Any]) -> dict[str, Any]:
    """The number of nodes in the expectations of a validation's Job."""
    told = (spec["template"].get("metadata") or {}).get("annotations") or {}
    if EXPECTATIONS_ANNOTATION not in told:
        return {}
    count = json.loads(told[EXPECTATIONS_ANNOTATION])["node_count"]
    return {"annotations": {EXPECTATIONS_ANNOTATION: json.dumps({"node_count": count})}}


def _report(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report without its figures."""
    failed = [check for check in report.get("checks") or [] if check["verdict"] == "fail"]
    kept = _only(dict(report), ("schema_version", "pool", "vm_size", "verdict", "mode", "finished", "coverage"))
    return {**kept, "checks": failed, "nodes": {name: {} for name in report.get("nodes") or []}}


_PLACEMENT: Final = ("nodeName", "nodeSelector", "tolerations")
_COUNTS: Final = ("replicas", "parallelism", "completions", "suspend")
_COUNTED: Final = (
    *("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "replicas", "readyReplicas"),
    *("active", "succeeded", "failed"),
)
_ENDS: Final = ("Available", "Complete", "Failed", "FailureTarget")
_WEBHOOK: Final = ("name", "clientConfig", "failurePolicy", "rules", "namespaceSelector")
_STATUSES: Final = ("initContainerStatuses", "containerStatuses")


def _only(given: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: given[name] for name in names if name in given}


def _conditions(status: dict[str, Any], *kinds: str) -> list[dict[str, Any]]:
    """Conditions of some types; what is true needs no reason."""
    told = ("type", "status", "reason", "message")
    held = [one for one in status.get("conditions") or [] if one["type"] in kinds]
    return [_only(one, told[:2] if one["status"] == "True" else told) for one in held]


def _containers(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**_only(container, _CONTAINER), "env": _settings(container)} for container in spec["containers"]]


def _settings(container: dict[str, Any]) -> list[dict[str, Any]]:
    return [setting for setting in container.get("env") or [] if setting["name"].startswith("NCCL_")]


def _status(status: dict[str, Any]) -> dict[str, Any]:
    state, last = (_state(status.get(name) or {}) for name in ("state", "lastState"))
    return {"name": status["name"], "ready": status["ready"], "state": state or {"running": {}}, "lastState": last}


def _state(given: dict[str, Any]) -> dict[str, Any]:
    return {name: _only(how or {}, _HOW) for name, how in given.items() if how}


_HOW: Final = ("exitCode", "reason", "message")


def _without_nothing(value: Any) -> Any:
    """Without keys that have nothing, except those of every object, and those that say that a container runs."""
    if isinstance(value, dict):
        kept = {name: _without_nothing(item) for name, item in value.items()}
        return {name: item for name, item in kept.items() if item not in (None, {}, []) or name in ("running", "spec")}
    return [_without_nothing(item) for item in value] if isinstance(value, list) else value


def document(kubeconfig: Path) -> dict[str, Any]:
    """A live cluster as a document from which `Snapshot.of` makes a snapshot."""
    snapshot = read(kubeconfig.read_text())
    plain = [json.loads(json.dumps(dict(item), default=str)) for item in snapshot.objects()]
    objects = [kept for item in plain if (kept := cut(item)) and (item["kind"] != "ConfigMap" or "data" in kept)]
    logs = {name: text for name, text in snapshot.view.logs.items() if text}
    found = {"read_at": snapshot.read_at.isoformat(timespec="seconds"), "objects": objects, "logs": logs}
    text = json.dumps(found)
    for number, pod in enumerate(sorted(item["metadata"]["name"] for item in objects if item["kind"] == "Pod")):
        text = text.replace(pod, re.sub(r"(-[0-9a-f]{8,10})?-[a-z0-9]{5}$", f"-{number}", pod))
    named: dict[str, Any] = json.loads(text)
    return named


if __name__ == "__main__":
    recorded = document(Path(sys.argv[1]))
    Path(sys.argv[2]).write_text(yaml.safe_dump(recorded, sort_keys=False, width=118, default_flow_style=None))
