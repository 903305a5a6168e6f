"""Writes a recorded cluster from a live one, cut down to what the doctor looks at.

`python -m tests.unit.command_line.doctor.recording KUBECONFIG FILE`, after `make rehearse KEEP=1`.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

import yaml
from aks_infiniband_cli.doctor.read import read

_METADATA: Final = ("name", "namespace", "labels", "finalizers", "deletionTimestamp")
_NODE_LABELS: Final = re.compile(
    r"node\.kubernetes\.io/instance-type|kubernetes\.azure\.com/(agentpool|mode|node-image-version)"
    r"|feature\.node\.kubernetes\.io/(pci-|kernel-version\.full|system-os_release\.(ID|VERSION_ID)$)"
    r"|network\.nvidia\.com/operator\.mofed|nvidia\.com/(gpu\.present|gpu\.deploy\.driver|\w+-driver-upgrade-state)"
)
_POD_LABELS: Final = re.compile(r"app$|app\.kubernetes\.io/(name|part-of|component)|nvidia\.com/ofed-driver")
_CONTAINER: Final = ("name", "image", "resources", "securityContext")
_POLICY: Final = (
    *("ofedDriver", "rdmaSharedDevicePlugin", "sriovDevicePlugin", "secondaryNetwork", "nvIpam"),
    *("nodeAffinity", "nodeSelector", "tolerations", "driver", "toolkit"),
)
"""Sections of the policies."""
_TOLD: Final = ("state", "reason", "appliedStates", "allocations", "conditions", "phase")


def cut(item: dict[str, Any]) -> dict[str, Any]:
    """An object without what changes from run to run, or says nothing about health."""
    kind, spec, status = item["kind"], item.get("spec") or {}, item.get("status") or {}
    kept: dict[str, Any] = {"kind": kind, "metadata": _only(item["metadata"], _METADATA)}
    if kind == "Node":
        labels = kept["metadata"]["labels"]
        kept["metadata"]["labels"] = {name: value for name, value in labels.items() if _NODE_LABELS.match(name)}
        kept["spec"] = _only(spec, ("taints", "unschedulable"))
        offered = {name: amount for name, amount in status["allocatable"].items() if "/" in name}
        info = _only(status["nodeInfo"], ("containerRuntimeVersion", "kernelVersion", "kubeletVersion", "osImage"))
        kept["status"] = {"allocatable": offered, "conditions": _conditions(status, "Ready"), "nodeInfo": info}
    elif kind == "Pod":
        labels = kept["metadata"].get("labels") or {}
        kept["metadata"]["labels"] = {name: value for name, value in labels.items() if _POD_LABELS.match(name)}
        kept["spec"] = {"nodeName": spec.get("nodeName"), "containers": _containers(spec)}
        states = {name: [_status(told) for told in status.get(name) or []] for name in _STATUSES}
        conditions = _conditions(status, "Ready", "PodScheduled")
        kept["status"] = {"phase": status.get("phase"), "conditions": conditions, **states}
    elif kind in ("DaemonSet", "Deployment"):
        template = spec["template"]["spec"]
        inner = {**_only(template, ("nodeSelector", "affinity", "tolerations")), "containers": _containers(template)}
        kept["spec"] = {"template": {"spec": inner}}
        kept["status"] = _only(status, ("desiredNumberScheduled", "numberReady", "replicas"))
        kept["status"] |= {"conditions": _conditions(status, "Available")} if kind == "Deployment" else {}
    elif "Policy" in kind:
        kept |= {"spec": _only(spec, _POLICY), "status": _only(status, _TOLD)}
    elif kind == "ConfigMap":
        kept["data"] = _only(item.get("data") or {}, ("config.json",))
    elif kind != "Secret":
        kept |= {"spec": spec, "status": _only(status, _TOLD)}
    whole: dict[str, Any] = _without_nothing(kept)
    return whole


_STATUSES: Final = ("initContainerStatuses", "containerStatuses")


def _only(given: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: given[name] for name in names if name in given}


def _conditions(status: dict[str, Any], *kinds: str) -> list[dict[str, Any]]:
    return [_only(held, ("type", "status")) for held in status.get("conditions") or [] if held["type"] in kinds]


def _containers(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return [_only(container, _CONTAINER) for container in spec["containers"]]


def _status(status: dict[str, Any]) -> dict[str, Any]:
    state = {name: _only(how or {}, ("exitCode", "reason")) for name, how in (status.get("state") or {}).items() if how}
    return {"name": status["name"], "ready": status["ready"], "state": state or {"running": {}}}


def _without_nothing(value: Any) -> Any:
    """Without keys that have nothing, except what every object has, and what says that a container runs."""
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
