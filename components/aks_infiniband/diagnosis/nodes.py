"""Findings about nodes: who is not Ready, who is missing, who lacks what the pool promises."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from lightkube.utils.quantity import parse_quantity

from aks_infiniband.diagnosis.view import Finding, Object, View, condition, matches, name_of
from aks_infiniband.facts.pool import Pool


def node_findings(view: View, pools: Sequence[Pool]) -> list[Finding]:
    """Nodes that are not Ready or are cordoned, and per pool those that are missing or lack a resource."""
    findings = missing_node_findings(view, pools)
    for pool in pools:
        findings += _lacking(pool.name, _members(view, pool), pool.promised_resources)
    return findings


def missing_node_findings(view: View, pools: Sequence[Pool]) -> list[Finding]:
    """Nodes that are not Ready or are cordoned, and per pool those that are missing."""
    findings = _not_ready(view.nodes)
    for pool in pools:
        joined = len(_members(view, pool))
        if joined < pool.node_count:
            selector = ",".join(f"{key}={value}" for key, value in pool.node_selector.items())
            findings.append(
                Finding(
                    what=f"pool {pool.name}: {joined} of {pool.node_count} nodes have joined the cluster",
                    command=f"kubectl get nodes -l {selector}",
                )
            )
    return findings


def _members(view: View, pool: Pool) -> list[Object]:
    return [node for node in view.nodes if matches(node["metadata"].get("labels"), pool.node_selector)]


def lacking(nodes: Sequence[Object], resource: str, least: int) -> list[str]:
    """Names of the nodes that offer less than `least` of a resource."""
    return sorted(str(node["metadata"]["name"]) for node in nodes if _offered(node, resource) < least)


def _offered(node: Object, resource: str) -> Decimal:
    allocatable = node.get("status", {}).get("allocatable") or {}
    return parse_quantity(str(allocatable.get(resource, "0"))) or Decimal(0)


def _lacking(pool: str, members: Sequence[Object], promised: Mapping[str, int]) -> list[Finding]:
    findings = []
    for resource, least in sorted(promised.items()):
        names = lacking(members, resource, least)
        if names:
            findings.append(
                Finding(
                    what=f"pool {pool}: {', '.join(names)} offer less than {least} of {resource}, so pods that ask "
                    "for it stay Pending",
                    command=f"kubectl describe node {names[0]}",
                )
            )
    return findings


def _not_ready(nodes: Sequence[Object]) -> list[Finding]:
    findings = []
    for node in nodes:
        ready = condition(node, "Ready")
        if ready.get("status") != "True":
            reason = f"{ready.get('reason', 'no Ready condition')}: {ready.get('message', '')}".rstrip(": ")
            findings.append(
                Finding(
                    what=f"node {name_of(node)} is not Ready ({reason})",
                    cause="a driver container that reloads the network or restarts containerd takes its node down",
                    command=f"kubectl describe node {name_of(node)}",
                )
            )
        elif node.get("spec", {}).get("unschedulable"):
            findings.append(
                Finding(
                    what=f"node {name_of(node)} is cordoned: nothing new is scheduled on it",
                    cause="an operator drains it for a driver upgrade, or a person does",
                    command=f"kubectl uncordon {name_of(node)}",
                )
            )
    return findings
