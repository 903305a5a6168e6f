"""Findings about the operators: their DaemonSets, their releases, and node feature discovery."""

from collections.abc import Mapping
from typing import Any, Final

from aks_infiniband.diagnosis.view import (
    Finding,
    Object,
    View,
    condition,
    describe,
    in_namespace,
    labelled,
    name_of,
    pairs,
)

NIC_LABEL: Final = "feature.node.kubernetes.io/pci-15b3.present"
GPU_LABEL: Final = "feature.node.kubernetes.io/pci-10de.present"

_LABEL_HINTS: Final = {
    NIC_LABEL: "node feature discovery or the node feature rule does not work, or there is no Mellanox device",
    GPU_LABEL: "node feature discovery does not work, or the nodes have no NVIDIA GPU",
    "network.nvidia.com/operator.mofed.wait": "no node's OFED driver pod is ready",
}
"""Why no node carries a label."""
_EMPTY_BY_DESIGN: Final = ("nvidia.com/mps.capable", "nvidia.com/gpu.deploy.mig-manager", "nvidia.com/mig.capable")
"""Labels that no node of ours carries. A DaemonSet that selects such nodes has no pod, and that is right."""


def daemon_set_findings(view: View, namespace: str, name: str | None = None) -> list[Finding]:
    """DaemonSets that want no pod at all (which counts as healthy everywhere else), or have pods that are not ready.

    name: of the only one that matters.
    """
    findings = []
    for daemon_set in in_namespace(view.daemon_sets, namespace):
        if name not in (None, daemon_set["metadata"]["name"]):
            continue
        status = daemon_set.get("status") or {}
        desired, ready = status.get("desiredNumberScheduled", 0), status.get("numberReady", 0)
        command = describe("daemonset", daemon_set)
        if desired == 0 and not _empty_by_design(daemon_set):
            what = f"DaemonSet {name_of(daemon_set)} wants 0 pods: it does not match a single node"
            findings.append(Finding(what=what, cause=_why_no_node(daemon_set, view), command=command))
        elif ready < desired:
            what = f"DaemonSet {name_of(daemon_set)}: {ready} of {desired} ready"
            findings.append(Finding(what=what, command=command))
    return findings


def _selector(daemon_set: Object) -> Mapping[str, str]:
    selector: Mapping[str, str] = daemon_set["spec"]["template"]["spec"].get("nodeSelector") or {}
    return selector


def _empty_by_design(daemon_set: Object) -> bool:
    return any(label in _selector(daemon_set) for label in _EMPTY_BY_DESIGN)


def _why_no_node(daemon_set: Object, view: View) -> str:
    selector = _selector(daemon_set)
    for key, value in selector.items():
        if not labelled(view.nodes, {key: value}):
            return f"no node carries the label {key}={value}" + (
                f": {_LABEL_HINTS[key]}" if key in _LABEL_HINTS else ""
            )
    if selector and not labelled(view.nodes, selector):
        return f"no node carries all of the labels {pairs(selector)}"
    terms = _affinity_text(daemon_set)
    return f"its node affinity matches no node{f': {terms}' if terms else ''}"


def _affinity_text(daemon_set: Object) -> str:
    affinity = daemon_set["spec"]["template"]["spec"].get("affinity") or {}
    required = (affinity.get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    terms = [term.get("matchExpressions") or [] for term in required.get("nodeSelectorTerms") or []]
    return " or ".join(" and ".join(map(_expression_text, term)) for term in terms)


def _expression_text(label: Mapping[str, Any]) -> str:
    return f"{label['key']} {label['operator']} {','.join(label.get('values') or [])}".rstrip()


def feature_discovery_findings(view: View, label: str) -> list[Finding]:
    """No node has the label of the operator, or two node feature discoveries overwrite each other's labels."""
    findings = []
    if not labelled(view.nodes, {label: "true"}):
        what = f"no node carries the label {label}=true, without which the operator ignores it"
        findings.append(Finding(what=what, cause=_LABEL_HINTS[label], command=f"kubectl get nodes -L {label}"))
    workers = [item for item in view.daemon_sets if _is_feature_discovery(item)]
    if len(workers) > 1:
        findings.append(
            Finding(
                what=f"{len(workers)} node feature discoveries run: {', '.join(name_of(item) for item in workers)}",
                cause="both operators' charts bring one: set nfd.enabled=false in all but one",
                command="kubectl get daemonsets -A -l app.kubernetes.io/name=node-feature-discovery",
            )
        )
    return findings


def _is_feature_discovery(daemon_set: Object) -> bool:
    labels = daemon_set["metadata"].get("labels") or {}
    name = str(daemon_set["metadata"]["name"])
    return labels.get("app.kubernetes.io/name") == "node-feature-discovery" or (
        "node-feature-discovery" in name and name.endswith("worker")
    )


def release_findings(view: View, name: str, namespace: str) -> list[Finding]:
    """Deployments of the release's namespace that are not available, and a release that Helm left half-way."""
    findings = []
    for deployment in in_namespace(view.deployments, namespace):
        available = condition(deployment, "Available")
        if available.get("status") != "True":
            what = f"Deployment {name_of(deployment)} is not available: {available.get('message', 'no status yet')}"
            findings.append(Finding(what=what, command=describe("deployment", deployment)))
    ours = labelled(view.release_secrets, {"name": name})
    newest = max(ours, key=lambda item: int(item["metadata"]["labels"].get("version", "0")), default=None)
    state = newest["metadata"]["labels"].get("status", "") if newest else ""
    if state == "failed" or state.startswith("pending"):
        findings.append(
            Finding(
                what=f"Helm release {namespace}/{name} is recorded as {state}",
                cause="an install or upgrade was cut off; Helm refuses the name until it is cleaned up",
                command=f"helm -n {namespace} history {name}; helm -n {namespace} "
                + (f"uninstall {name}" if state in ("failed", "pending-install") else f"rollback {name}"),
            )
        )
    return findings
