"""Pure functions: they find what is wrong in the objects read from a cluster, and write it as a block of text."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from aks_infiniband.diagnosis.nodes import device_plugin_findings, missing_node_findings, node_findings
from aks_infiniband.diagnosis.operators import (
    AMD_GPU_LABEL,
    GPU_LABEL,
    NIC_LABEL,
    daemon_set_findings,
    doubled_section_findings,
    feature_discovery_findings,
    network_findings,
    policy_findings,
    release_findings,
)
from aks_infiniband.diagnosis.pods import job_findings, pod_findings
from aks_infiniband.diagnosis.view import Finding, View, Wait, WaitingFor, in_namespace, labelled, owners_of
from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.words import REFUSALS, found_in
from aks_infiniband.resources.metadata import (
    AMD_GPU_OPERATOR_NAMESPACE,
    GPU_OPERATOR_NAMESPACE,
    NETWORK_OPERATOR_NAMESPACE,
    OPERATOR_NAMESPACES,
)

Explain = Callable[[Wait, View], list[Finding]]
"""Everything about a Job whose wait failed, the most telling first."""

_POLICIES: Final[Mapping[WaitingFor, tuple[str, str, str]]] = {
    "nic-cluster-policy": ("NicClusterPolicy", NETWORK_OPERATOR_NAMESPACE, NIC_LABEL),
    "nic-node-policy": ("NicNodePolicy", NETWORK_OPERATOR_NAMESPACE, NIC_LABEL),
    "cluster-policy": ("ClusterPolicy", GPU_OPERATOR_NAMESPACE, GPU_LABEL),
    "device-config": ("DeviceConfig", AMD_GPU_OPERATOR_NAMESPACE, AMD_GPU_LABEL),
}
"""Kind, operator's namespace and the label by which the operator finds nodes."""
_MOST_FINDINGS: Final = 25
"""A pool of a hundred nodes that all lack the same thing still has to be read by a person."""


def diagnose(wait: Wait, view: View, pools: Sequence[Pool], explain: Explain = job_findings) -> list[Finding]:
    """Everything that may explain why the wait failed, the most telling first.

    explain: what the maker of a Job knows of its failure.
    """
    return [*_refused(wait, view), *_shown(wait, view, pools, explain)]


def _refused(wait: Wait, view: View) -> list[Finding]:
    """The API server's own answer, if it names the cause. A login that expires ends a wait without a word."""
    refused = ((said, found_in(said, REFUSALS)) for said in (*wait.errors[:1], *view.unread))
    return [Finding(what=said.strip(), cause=str(message)) for said, message in refused if message][:1]


def _shown(wait: Wait, view: View, pools: Sequence[Pool], explain: Explain) -> list[Finding]:
    """The findings in the cluster."""
    if wait.waiting_for == "release":
        pods = pod_findings(in_namespace(view.pods, wait.namespace), view, ours=wait.namespace)
        return [*release_findings(view, wait.name, wait.namespace), *pods, *node_findings(view, [])]
    if wait.waiting_for in _POLICIES:
        kind, namespace, label = _POLICIES[wait.waiting_for]
        return [*doubled_section_findings(view), *_operator(view, kind, namespace, label)]
    if wait.waiting_for in ("ip-pool", "ipoib-network"):
        operator = _operator(view, "NicClusterPolicy", NETWORK_OPERATOR_NAMESPACE, NIC_LABEL)
        return [*network_findings(view, wait.name), *operator]
    if wait.waiting_for == "namespace":
        return []
    if wait.waiting_for == "daemon-set":
        return _daemon_set(wait, view, pools)
    return _job(view, pools, explain(wait, view))


def _daemon_set(wait: Wait, view: View, pools: Sequence[Pool]) -> list[Finding]:
    """A DaemonSet of ours: itself, its pods, and the nodes that they are to run on."""
    there = in_namespace(view.pods, wait.namespace)
    owned = [pod for pod in there if any(owner.get("name") == wait.name for owner in owners_of(pod))]
    pods = owned or labelled(there, {"app.kubernetes.io/name": wait.name})
    findings = [*daemon_set_findings(view, wait.namespace, wait.name), *pod_findings(pods, view, ours=wait.namespace)]
    return [*findings, *missing_node_findings(view, pools)]


def _operator(view: View, kind: str, namespace: str, label: str) -> list[Finding]:
    return [
        *policy_findings(view, kind),
        *feature_discovery_findings(view, label),
        *daemon_set_findings(view, namespace),
        *pod_findings(in_namespace(view.pods, namespace), view),
        *node_findings(view, []),
    ]


def _job(view: View, pools: Sequence[Pool], findings: list[Finding]) -> list[Finding]:
    nodes = list(node_findings(view, pools))
    findings += nodes
    if nodes:  # a node that lacks something lacks it because of an operator
        findings += device_plugin_findings(view, pools)
        for namespace in OPERATOR_NAMESPACES:
            findings += daemon_set_findings(view, namespace)
            findings += pod_findings(in_namespace(view.pods, namespace), view)
    return findings


def render(wait: Wait, findings: Sequence[Finding], unread: Sequence[str] = ()) -> str:
    """A block of text: what was waited for, then each finding with its cause and the next command.

    The most telling finding comes last, because a terminal shows the end of the output.
    """
    subject = f"{wait.namespace}/{wait.name}" if wait.namespace else wait.name
    lines = [f"Waited in vain for {wait.waiting_for} {subject}. The cluster shows, the clearest last:"]
    lines += [f"  (could not be read: {reason})" for reason in unread]
    if len(findings) > _MOST_FINDINGS:
        lines.append(f"  - and {len(findings) - _MOST_FINDINGS} more of the kind")
    if not findings:
        lines.append("  - nothing that explains it; the engine's own message is all there is")
    for finding in reversed(findings[:_MOST_FINDINGS]):
        lines += finding.lines()
    return "\n".join(lines)
