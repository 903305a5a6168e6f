"""What was seen to what is wrong, and that to a block of text: pure functions."""

from collections.abc import Sequence
from typing import Final

from aks_infiniband.diagnosis.azure import azure_findings
from aks_infiniband.diagnosis.device_plugin import device_plugin_findings
from aks_infiniband.diagnosis.jobs import job_findings
from aks_infiniband.diagnosis.nodes import node_findings
from aks_infiniband.diagnosis.operators import (
    GPU_LABEL,
    NIC_LABEL,
    daemon_set_findings,
    feature_discovery_findings,
    policy_findings,
    release_findings,
)
from aks_infiniband.diagnosis.pods import pod_findings
from aks_infiniband.diagnosis.view import Finding, View, Wait, in_namespace
from aks_infiniband.metadata import GPU_OPERATOR_NAMESPACE, NETWORK_OPERATOR_NAMESPACE
from aks_infiniband.pool import Pool

_MOST_FINDINGS: Final = 25
"""A pool of a hundred nodes that all lack the same thing still has to be read by a person."""


def diagnose(wait: Wait, view: View, pools: Sequence[Pool]) -> list[Finding]:
    """Everything that may explain why the wait failed, the most telling first."""
    if wait.waiting_for == "release":
        pods = pod_findings(in_namespace(view.pods, wait.namespace), view)
        return [*release_findings(view, wait.name, wait.namespace), *pods, *node_findings(view, [])]
    if wait.waiting_for == "nic-cluster-policy":
        return _operator(view, "NicClusterPolicy", NETWORK_OPERATOR_NAMESPACE, NIC_LABEL)
    if wait.waiting_for == "cluster-policy":
        return _operator(view, "ClusterPolicy", GPU_OPERATOR_NAMESPACE, GPU_LABEL)
    if wait.waiting_for == "agent-pool":
        return azure_findings(tuple(wait.errors))
    return _job(wait, view, pools)


def _operator(view: View, kind: str, namespace: str, label: str) -> list[Finding]:
    return [
        *policy_findings(view, kind),
        *feature_discovery_findings(view, label),
        *daemon_set_findings(view, namespace),
        *pod_findings(in_namespace(view.pods, namespace), view),
        *node_findings(view, []),
    ]


def _job(wait: Wait, view: View, pools: Sequence[Pool]) -> list[Finding]:
    findings = job_findings(view, wait.name, wait.namespace)
    nodes = node_findings(view, pools)
    findings += nodes
    if nodes:  # a node that lacks something lacks it because of an operator
        findings += device_plugin_findings(view, pools)
        for namespace in (NETWORK_OPERATOR_NAMESPACE, GPU_OPERATOR_NAMESPACE):
            findings += daemon_set_findings(view, namespace)
            findings += pod_findings(in_namespace(view.pods, namespace), view)
    return findings


def render(wait: Wait, findings: Sequence[Finding], unread: Sequence[str] = ()) -> str:
    """A block of text: what was waited for, then each finding with its cause and the next command."""
    subject = f"{wait.namespace}/{wait.name}" if wait.namespace else wait.name
    lines = [f"Waited in vain for {wait.waiting_for} {subject}. What the cluster shows:"]
    if not findings:
        lines.append("  - nothing that explains it; the engine's own message is all there is")
    for finding in findings[:_MOST_FINDINGS]:
        lines.append("  - " + finding.what.replace("\n", "\n    "))
        if finding.cause:
            lines.append(f"    likely cause: {finding.cause}")
        if finding.command:
            lines.append(f"    next: {finding.command}")
    if len(findings) > _MOST_FINDINGS:
        lines.append(f"  - and {len(findings) - _MOST_FINDINGS} more of the kind")
    lines += [f"  (could not be read: {reason})" for reason in unread]
    return "\n".join(lines)
