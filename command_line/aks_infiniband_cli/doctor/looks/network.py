"""The state of the Network Operator: its policies, the nodes of their parts, and the networks."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from aks_infiniband.diagnosis.holds import holder_of
from aks_infiniband.diagnosis.operators import (
    NIC_LABEL,
    daemon_set_findings,
    doubled_section_findings,
    network_findings,
    policy_findings,
)
from aks_infiniband.diagnosis.ownership import trusted_namespaces
from aks_infiniband.diagnosis.repairs import ofed_pods, stale_wait_findings
from aks_infiniband.diagnosis.view import Finding, Object, labelled, name_of, owners_of
from aks_infiniband.facts.kubernetes import minor_of
from aks_infiniband.facts.node_images import VERSION_LABEL, has_drivers

from aks_infiniband_cli.doctor.looks.operands import (
    daemon_sets_with,
    infiniband_nodes,
    ofed_sets,
    operator_namespaces,
    operator_version,
    runs,
    size_of,
)
from aks_infiniband_cli.doctor.snapshot import Snapshot, labels_of

_WHEREABOUTS_GONE_SINCE: Final = (25, 10)
"""The first Network Operator whose NicClusterPolicy lacks a part for it (Azure/aks-rdma-infiniband pull request 120,
2026-01-14).
"""

_TOLERATED_BY_ALL: Final = ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},)
"""Tolerations that the Network Operator adds to those of every part (v26.4.1, manifests)."""
_NETWORKS: Final = "k8s.v1.cni.cncf.io/networks"
_NETWORK_STATUS: Final = ("k8s.v1.cni.cncf.io/network-status", "k8s.v1.cni.cncf.io/networks-status")
"""Annotations in which Multus lists the networks that it has attached; the second one is of versions before 3.8."""


def policies(snapshot: Snapshot) -> Iterator[Finding]:
    """Policies of both operators that are missing, ignored, in each other's way or not ready."""
    view = snapshot.view
    for kind, operator in (("NicClusterPolicy", "network-operator"), ("ClusterPolicy", "gpu-operator")):
        node_policies = any(policy.get("kind") == "NicNodePolicy" for policy in view.policies)
        wanted = (
            runs(snapshot, operator)
            and snapshot.was_read(kind, "NicNodePolicy")
            and not (kind == "NicClusterPolicy" and node_policies)
            and not (kind == "ClusterPolicy" and _has_gpu_cluster(snapshot))
        )
        for finding in policy_findings(view, kind):
            if finding.symptom != "policy-absent":
                yield finding
            elif wanted:
                yield replace(finding, symptom=f"no-{'nic' if kind == 'NicClusterPolicy' else 'gpu'}-policy")
    for finding in policy_findings(view, "NicNodePolicy"):
        if finding.symptom == "policy-not-ready":
            overlap = "overlap" in finding.what or "selected by" in finding.what
            yield replace(finding, symptom="node-policies-overlap") if overlap else finding
    yield from doubled_section_findings(view)


def _has_gpu_cluster(snapshot: Snapshot) -> bool:
    """True if another kind than a ClusterPolicy configures the GPU Operator: one that is there, or that owns objects
    that the operator has made.
    """
    owners = [owner for item in snapshot.view.daemon_sets for owner in owners_of(item)]
    made = any(str(o.get("apiVersion")).startswith("nvidia.com/") and o.get("kind") != "ClusterPolicy" for o in owners)
    return made or bool(snapshot.of_kind("GPUCluster"))


def daemon_sets(snapshot: Snapshot) -> Iterator[Finding]:
    """DaemonSets of the operators without a node, or not ready."""
    for namespace in sorted(operator_namespaces(snapshot)):
        yield from daemon_set_findings(snapshot.view, namespace)


def placement(snapshot: Snapshot) -> Iterator[Finding]:
    """Labelled InfiniBand nodes that the OFED driver's affinity or tolerations leave out."""
    view = snapshot.view
    specs = [_pod_spec(item) for item in ofed_sets(view)] or [
        _asked_for(item) for item in view.policies if _drives(item)
    ]
    nodes = labelled(infiniband_nodes(view), {NIC_LABEL: "true"})
    for node in nodes if specs else ():
        about = f"node {name_of(node)}"
        if not any(_affine(spec, node) for spec in specs):
            required = [_terms(spec) for spec in specs]
            what = f"{about} is not among the nodes that the OFED driver's affinity selects: {json.dumps(required[0])}"
            yield Finding(symptom="affinity-leaves-node-out", about=about, what=what)
            continue
        hindering = [_intolerable(spec, node) for spec in specs]
        if all(hindering):
            taints = ", ".join(sorted(hindering[0]))
            what = f"{about} has the taint {taints}, which the OFED driver does not tolerate"
            yield Finding(symptom="taint-not-tolerated", about=about, what=what)


def _drives(policy: Object) -> bool:
    return policy.get("kind") == "NicClusterPolicy" and "ofedDriver" in (policy.get("spec") or {})


def _asked_for(policy: Object) -> Mapping[str, Any]:
    """The nodes for which a policy wants its driver, as a pod's spec. The function is needed because the operator makes
    no DaemonSet that fits no node.
    """
    spec = policy["spec"]
    tolerations = [*(spec.get("tolerations") or []), *_TOLERATED_BY_ALL]
    return {"affinity": {"nodeAffinity": spec.get("nodeAffinity") or {}}, "tolerations": tolerations}


def _pod_spec(item: Object) -> Mapping[str, Any]:
    spec: Mapping[str, Any] = item["spec"]["template"]["spec"]
    return spec


def _terms(spec: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms: Sequence[Mapping[str, Any]] = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get(
        "nodeSelectorTerms"
    ) or []
    return terms


def _affine(spec: Mapping[str, Any], node: Object) -> bool:
    terms = _terms(spec)
    return not terms or any(
        all(_matches(wanted, node) for wanted in term.get("matchExpressions") or []) for term in terms
    )


def _matches(wanted: Mapping[str, Any], node: Object) -> bool:
    value = (node["metadata"].get("labels") or {}).get(wanted["key"])
    values, operator = list(wanted.get("values") or []), str(wanted["operator"])
    if operator in ("In", "NotIn"):
        return (value in values) == (operator == "In")
    return (value is not None) == (operator == "Exists")


def _intolerable(spec: Mapping[str, Any], node: Object) -> set[str]:
    """The node's taints that keep the pods off, as key=value:effect, without marks of programs that hold it."""
    tolerated = spec.get("tolerations") or []
    return {
        f"{taint['key']}={taint.get('value') or ''}:{taint['effect']}"
        for taint in (node.get("spec") or {}).get("taints") or []
        if taint["effect"] != "PreferNoSchedule"
        and not taint["key"].startswith("node.kubernetes.io/")
        and holder_of(taint, node) is None
        and not any(_tolerates(toleration, taint) for toleration in tolerated)
    }


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    return (
        toleration.get("key") in (None, "", taint["key"])
        and toleration.get("effect") in (None, "", taint["effect"])
        and (toleration.get("operator") == "Exists" or (toleration.get("value") or "") == (taint.get("value") or ""))
    )


def stale_wait(snapshot: Snapshot) -> Iterator[Finding]:
    """Nodes whose label lets pods start although the OFED driver is not there."""
    yield from stale_wait_findings(snapshot.view)


def second_driver(snapshot: Snapshot) -> Iterator[Finding]:
    """An OFED container on nodes whose image has DOCA-OFED already."""
    for node in infiniband_nodes(snapshot.view):
        size = size_of(node)
        placed = ofed_pods(snapshot.view.pods, node, trusted_namespaces(snapshot.view))
        if size is not None and has_drivers(labels_of(node)) and placed:
            image = labels_of(node)[VERSION_LABEL]
            what = f"pod {name_of(placed[0])} runs on node {name_of(node)} of size {size.name}, whose image is {image}"
            yield Finding(symptom="ofed-on-image-with-ofed", about=f"node {name_of(node)}", what=what)


def networks(snapshot: Snapshot) -> Iterator[Finding]:
    """IPoIB networks and their addresses, and whereabouts, which the operator no longer has."""
    view = snapshot.view
    for name in dict.fromkeys(str(network["metadata"]["name"]) for network in view.networks):
        yield from network_findings(view, name)
    version = operator_version(snapshot, "network-operator")
    if version is None or minor_of(version) < _WHEREABOUTS_GONE_SINCE:
        return
    for attachment in snapshot.of_kind("NetworkAttachmentDefinition"):
        if '"whereabouts"' in str((attachment.get("spec") or {}).get("config")):
            about = f"NetworkAttachmentDefinition {name_of(attachment)}"
            what = f"{about} takes its addresses from whereabouts; the Network Operator is {version}"
            yield Finding(symptom="whereabouts-gone", about=about, what=what)


def unserved(snapshot: Snapshot) -> Iterator[Finding]:
    """Pods that request a second network and run without it, because their annotation was not read."""
    multus = daemon_sets_with(snapshot.view, "multus-cni")
    for pod in snapshot.view.pods:
        annotations = pod["metadata"].get("annotations") or {}
        asked, running = annotations.get(_NETWORKS), (pod.get("status") or {}).get("phase") == "Running"
        if asked and running and not any(name in annotations for name in _NETWORK_STATUS):
            who = "Multus was not ready when it started" if multus else "no Multus runs in this cluster"
            what = f"pod {name_of(pod)} requests the network {asked} and does not have it: {who}"
            yield Finding(symptom="network-unserved", about=f"pod {name_of(pod)}", what=what)
