"""Findings about nodes: who is not Ready, who is missing, who lacks what the pool promises."""

from collections.abc import Sequence
from decimal import Decimal

from lightkube.utils.quantity import parse_quantity

from aks_infiniband.diagnosis.view import Finding, Object, View, condition, describe, labelled, name_of, pairs
from aks_infiniband.facts.pool import Pool


def node_findings(view: View, pools: Sequence[Pool]) -> list[Finding]:
    """Nodes that are not Ready or are cordoned, and per pool those that are missing or lack a resource."""
    findings = missing_node_findings(view, pools)
    for pool in pools:
        members = labelled(view.nodes, pool.node_selector)
        for resource, least in sorted(pool.promised_resources.items()):
            if names := lacking(members, resource, least):
                what = (
                    f"pool {pool.name}: {', '.join(names)} offer less than {least} of {resource}, so pods that ask for "
                    "it stay Pending"
                )
                findings.append(Finding(what=what, command=f"kubectl describe node {names[0]}"))
    return findings


def missing_node_findings(view: View, pools: Sequence[Pool]) -> list[Finding]:
    """Nodes that are not Ready or are cordoned, and per pool those that are missing."""
    findings = [finding for node in view.nodes if (finding := _out_of_service(node)) is not None]
    for pool in pools:
        joined = len(labelled(view.nodes, pool.node_selector))
        if joined < pool.node_count:
            what = f"pool {pool.name}: {joined} of {pool.node_count} nodes have joined the cluster"
            findings.append(Finding(what=what, command=f"kubectl get nodes -l {pairs(pool.node_selector, ',')}"))
    return findings


def lacking(nodes: Sequence[Object], resource: str, least: int) -> list[str]:
    """Names of the nodes that offer less than `least` of a resource."""
    return sorted(str(node["metadata"]["name"]) for node in nodes if _offered(node, resource) < least)


def _offered(node: Object, resource: str) -> Decimal:
    allocatable = node.get("status", {}).get("allocatable") or {}
    return parse_quantity(str(allocatable.get(resource, "0"))) or Decimal(0)


def _out_of_service(node: Object) -> Finding | None:
    ready = condition(node, "Ready")
    if ready.get("status") != "True":
        reason = f"{ready.get('reason', 'no Ready condition')}: {ready.get('message', '')}".rstrip(": ")
        return Finding(
            what=f"node {name_of(node)} is not Ready ({reason})",
            cause="a driver container that reloads the network or restarts containerd takes its node down",
            command=describe("node", node),
        )
    if node.get("spec", {}).get("unschedulable"):
        return Finding(
            what=f"node {name_of(node)} is cordoned: nothing new is scheduled on it",
            cause="an operator drains it for a driver upgrade, or a person does",
            command=f"kubectl uncordon {name_of(node)}",
        )
    return None
