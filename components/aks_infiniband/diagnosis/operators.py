"""Findings about the operators: their releases, DaemonSets, policies and networks, and node feature discovery."""

from collections.abc import Iterator, Mapping
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
    shown_by,
    why_not_made,
)
from aks_infiniband.facts.amd import VIRTUAL_GPU
from aks_infiniband.facts.words import ADMISSION, found_in

NIC_LABEL: Final = "feature.node.kubernetes.io/pci-15b3.present"
GPU_LABEL: Final = "feature.node.kubernetes.io/pci-10de.present"
(AMD_GPU_LABEL,) = VIRTUAL_GPU

_LABEL_HINTS: Final = {
    NIC_LABEL: "node feature discovery or the node feature rule does not work, or the nodes lack a Mellanox device",
    GPU_LABEL: "node feature discovery does not work, or the nodes lack an NVIDIA GPU",
    AMD_GPU_LABEL: "node feature discovery or the rule of AMD's chart does not work, or the nodes lack AMD's GPU",
    "network.nvidia.com/operator.mofed.wait": "no node's OFED driver pod is ready",
}
"""Why no node carries a label."""
_LABEL_SYMPTOMS: Final = {
    NIC_LABEL: "nic-label-missing",
    GPU_LABEL: "gpu-label-missing",
    AMD_GPU_LABEL: "gpu-label-missing",
}
_EMPTY_BY_DESIGN: Final = ("nvidia.com/mps.capable", "nvidia.com/gpu.deploy.mig-manager", "nvidia.com/mig.capable")
"""Labels that none of our nodes carries. A DaemonSet that selects such nodes is rightly without pods."""
_MOVING: Final = frozenset(("ofedDriver", "rdmaSharedDevicePlugin", "sriovDevicePlugin"))
"""Sections that a node takes from one policy only, of either kind."""
_OF_THE_WHOLE: Final = frozenset(("Ready", "Error"))
"""Types of conditions that are about no part."""
_ONLY_NAME: Final = {"NicClusterPolicy": "; the Network Operator reads only the name nic-cluster-policy"}


def daemon_set_findings(view: View, namespace: str, name: str | None = None) -> Iterator[Finding]:
    """DaemonSets without a wanted pod, which kubectl shows as healthy, or with pods that are not ready.

    name: of the only one that matters.
    """
    for daemon_set in in_namespace(view.daemon_sets, namespace):
        if name not in (None, daemon_set["metadata"]["name"]):
            continue
        status = daemon_set.get("status") or {}
        desired, ready = status.get("desiredNumberScheduled", 0), status.get("numberReady", 0)
        if desired == 0 and not any(label in _selector(daemon_set) for label in _EMPTY_BY_DESIGN):
            what, cause = " wants 0 pods: it does not match a single node", _why_no_node(daemon_set, view)
            yield shown_by("DaemonSet", daemon_set, "daemon-set-without-node", what, cause=cause)
        elif ready < desired:
            lacks_pods = status.get("currentNumberScheduled", 0) < desired
            refused = why_not_made("DaemonSet", daemon_set, view) if lacks_pods else ""
            what = f": {ready} of {desired} ready{refused and f'; {refused}'}"
            known = found_in(refused, ADMISSION)
            symptom, told = (known.id, str(known)) if known else ("daemon-set-not-ready", None)
            yield shown_by("DaemonSet", daemon_set, symptom, what, cause=told)


def _selector(daemon_set: Object) -> Mapping[str, str]:
    selector: Mapping[str, str] = daemon_set["spec"]["template"]["spec"].get("nodeSelector") or {}
    return selector


def _why_no_node(daemon_set: Object, view: View) -> str:
    selector = _selector(daemon_set)
    for key, value in selector.items():
        if not labelled(view.nodes, {key: value}):
            hint = f": {_LABEL_HINTS[key]}" if key in _LABEL_HINTS else ""
            return f"no node carries the label {key}={value}{hint}"
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


def feature_discovery_findings(view: View, label: str) -> Iterator[Finding]:
    """No node has the label of the operator, or two node feature discoveries overwrite each other's labels."""
    if not labelled(view.nodes, {label: "true"}):
        what = f"no node carries the label {label}=true, without which the operator ignores it"
        command = f"kubectl get nodes -L {label}"
        yield Finding(
            symptom=_LABEL_SYMPTOMS[label], about="nodes", what=what, cause=_LABEL_HINTS[label], command=command
        )
    workers = [item for item in view.daemon_sets if _is_feature_discovery(item)]
    if len(workers) > 1:
        yield Finding(
            symptom="two-feature-discoveries",
            about=f"DaemonSet {name_of(workers[-1])}",
            what=f"{len(workers)} node feature discoveries run: {', '.join(name_of(item) for item in workers)}",
            cause="both operators' charts bring one: keep one, and set nfd.enabled=false in the others",
            command="kubectl get daemonsets -A -l app.kubernetes.io/name=node-feature-discovery",
        )


def _is_feature_discovery(daemon_set: Object) -> bool:
    labels = daemon_set["metadata"].get("labels") or {}
    name = str(daemon_set["metadata"]["name"])
    return labels.get("app.kubernetes.io/name") == "node-feature-discovery" or (
        "node-feature-discovery" in name and name.endswith("worker")
    )


def release_findings(view: View, name: str, namespace: str) -> Iterator[Finding]:
    """Deployments of the release's namespace that are not available, and a release that Helm left half-way."""
    for deployment in in_namespace(view.deployments, namespace):
        available = condition(deployment, "Available")
        if available.get("status") != "True":
            what = f" is not available: {available.get('message', 'no status yet')}"
            yield shown_by("Deployment", deployment, "deployment-unavailable", what)
    ours = labelled(view.release_secrets, {"name": name})
    newest = max(ours, key=lambda item: int(item["metadata"]["labels"].get("version", "0")), default=None)
    state = newest["metadata"]["labels"].get("status", "") if newest else ""
    if state == "failed" or state.startswith("pending"):
        mend = "uninstall" if state in ("failed", "pending-install") else "rollback"
        yield Finding(
            symptom="release-stuck",
            about=f"Helm release {namespace}/{name}",
            what=f"Helm release {namespace}/{name} is recorded as {state}",
            cause="an install or upgrade was cut off; Helm refuses the name until it is cleaned up",
            command=f"helm -n {namespace} history {name}; helm -n {namespace} {mend} {name}",
        )


def policy_findings(view: View, kind: str) -> list[Finding]:
    """The state of a NicClusterPolicy, ClusterPolicy or DeviceConfig, and which of its parts are not ready."""
    policies = [policy for policy in view.policies if policy.get("kind") == kind]
    if not policies:
        what, command = f"there is no {kind} in the cluster", f"kubectl get {kind.lower()}"
        return [Finding(symptom="policy-absent", about=kind, what=what, command=command)]
    return [_policy(policy) for policy in policies if _state(policy) != "ready"]


def _state(policy: Object) -> str | None:
    """Its state; of AMD's DeviceConfig, which has none, what its conditions come to."""
    state: str | None = (policy.get("status") or {}).get("state")
    if policy.get("kind") == "DeviceConfig" and (ready := condition(policy, "Ready")):
        return "ready" if ready.get("status") == "True" else "notReady"
    return state


def _policy(policy: Object) -> Finding:
    status = policy.get("status") or {}
    kind, state = policy["kind"], _state(policy)
    if state in ("ignore", "ignored"):
        what = f": state {state} ({status.get('reason') or 'no reason given'})"
        cause = f"another program made it{_ONLY_NAME.get(kind, '')}, and its leftovers may be in the way of ours"
        command = f"kubectl delete {kind.lower()} {name_of(policy)} (once it is not needed)"
        return shown_by(kind, policy, "policy-ignored", what, cause=cause, command=command)
    if not state:
        cause = f"its operator is not running{_ONLY_NAME.get(kind, '')}"
        return shown_by(kind, policy, "policy-not-seen", " does not have a status yet", cause=cause)
    reason = str(status.get("reason") or "")
    detail = "; ".join(text for text in (*_unready_parts(policy), reason) if text)
    what, command = f": state {state}", f"kubectl get {kind.lower()} {name_of(policy)} -o yaml"
    return shown_by(kind, policy, "policy-not-ready", what + (f" ({detail})" if detail else ""), command=command)


def _unready_parts(policy: Object) -> Iterator[str]:
    """A policy's words on its parts that are not ready: its conditions, if they name parts, else its states.

    Network Operator 26.7 writes a condition for each part (controllers/conditions.go); that of the whole repeats them.
    """
    status = policy.get("status") or {}
    conditions = status.get("conditions") or []
    seen = [held.get("observedGeneration", 0) for held in conditions]
    if any(seen) and max(seen) < policy["metadata"].get("generation", 0):
        yield "the operator has not looked at its latest change yet"
    of_parts = [held for held in conditions if held["type"] not in _OF_THE_WHOLE]
    for held in of_parts:
        if held["status"] != "True":
            yield f"{held['type']}={held['status']} {held.get('message') or held.get('reason', '')}".rstrip()
    if of_parts:
        return
    for part in status.get("appliedStates") or []:
        if part.get("state") in ("notReady", "error"):
            yield f"{part.get('name')}: {part.get('state')} {part.get('message') or ''}".rstrip()
    for held in conditions:
        if held.get("message"):
            yield f"{held['type']}={held['status']} {held['message']}"


def doubled_section_findings(view: View) -> Iterator[Finding]:
    """Sections that the NicClusterPolicy and a NicNodePolicy both have.

    The operator refuses that only if its admission webhook is on; else a node gets two driver pods, of which one stays
    Pending (Mellanox/network-operator v26.4.1, docs/heterogeneous-cluster-support.md). The cause: pools that differed
    become alike, and Pulumi deletes last what has left the program, here the NicNodePolicy.
    """
    shared = [policy.get("spec") or {} for policy in view.policies if policy.get("kind") == "NicClusterPolicy"]
    for policy in view.policies:
        own = (policy.get("spec") or {}).keys() & _MOVING if policy.get("kind") == "NicNodePolicy" else ()
        if doubled := sorted(key for key in own if any(key in spec for spec in shared)):
            what = f" has {', '.join(doubled)}, and so has the NicClusterPolicy: its nodes are to run both"
            cause = "the pools agree by now, and the NicNodePolicy has to go first"
            command = f"kubectl delete nicnodepolicy {name_of(policy)}, then pulumi up"
            yield shown_by("NicNodePolicy", policy, "policies-overlap", what, cause=cause, command=command)


def network_findings(view: View, name: str) -> Iterator[Finding]:
    """The state of an IPoIBNetwork and of the IPPool of the same name."""
    for network in view.networks:
        if network["metadata"]["name"] != name:
            continue
        status = network.get("status") or {}
        if network.get("kind") == "IPoIBNetwork" and status.get("state") != "ready":
            what = f": state {status.get('state') or 'none'} {status.get('reason') or ''}".rstrip()
            cause = None if status else "the Network Operator has not looked at it: is it running?"
            yield shown_by("IPoIBNetwork", network, "ipoib-network-not-ready", what, cause=cause)
        if network.get("kind") == "IPPool" and not status.get("allocations"):
            what = f"IPPool {name_of(network)} has given no node a block of addresses"
            cause = "NV-IPAM's controller is not running, or the pool's node selector matches no node"
            about, command = f"IPPool {name_of(network)}", describe("ippool", network)
            yield Finding(symptom="ip-pool-without-blocks", about=about, what=what, cause=cause, command=command)
