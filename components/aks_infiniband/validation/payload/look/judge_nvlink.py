"""Checks that the nodes' GPUs are in the NVLink fabrics of their racks, and finds the nodes that share one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..say.checks import Check, fails, make_check, not_measured, passes
from .node import FactsByNode
from .nvlink import IN_ORDER, Nvlink

_ASKED = "GPUs of all nodes in one NVLink domain"


def domains_of(facts_by_node: FactsByNode) -> dict[str, list[str]]:
    """The nodes of each NVLink domain, as far as it is known."""
    domains: dict[str, list[str]] = {}
    for node in sorted(facts_by_node):
        seen = facts_by_node[node]["nvlink"]
        if seen and seen["domain"]:
            domains.setdefault(seen["domain"], []).append(node)
    return domains


def judge_nvlink(facts_by_node: FactsByNode, gpus: int, machines: int) -> list[Check]:
    """One check of each node's GPUs, and one of how the nodes share NVLink domains.

    gpus: of a machine. machines: that one domain has.
    """
    checks = [_fabric(node, facts_by_node[node]["nvlink"], gpus) for node in sorted(facts_by_node)]
    return [*checks, *_domains(domains_of(facts_by_node), machines)]


def _fabric(node: str, seen: Nvlink | None, gpus: int) -> Check:
    if seen is None or seen["said"]:
        return not_measured("nvlink-fabric", seen and seen["said"], expected=IN_ORDER, node=node)
    wrong = [f"GPU {number}: {gpu}" for number, gpu in enumerate(seen["gpus"]) if gpu != IN_ORDER]
    if not wrong and len(seen["gpus"]) == gpus:
        return passes("nvlink-fabric", IN_ORDER, node=node)
    cause = (
        "the NVLink fabric of the rack has not taken the node's GPUs in, so no pod on it reaches the GPUs of other "
        "nodes: restart the machine, and if that does not help have Azure look at the rack's NVLink switches"
    )
    return fails("nvlink-fabric", IN_ORDER, "; ".join(wrong) or f"{len(seen['gpus'])} of {gpus} GPUs", cause, node=node)


def _domains(domains: Mapping[str, Sequence[str]], machines: int) -> list[Check]:
    """A node that is alone in its domain fails; more domains than the nodes need are a warning."""
    count = sum(map(len, domains.values()))
    if not count:
        return []
    needed = math.ceil(count / machines)
    asked = _ASKED if needed == 1 else f"GPUs of all nodes in {needed} NVLink domains of up to {machines} nodes"
    measured = {node: domain for domain, nodes in domains.items() for node in nodes}
    alone = [nodes[0] for nodes in domains.values() if len(nodes) == 1]
    if len(domains) <= needed:
        return [passes("nvlink-domain", asked, f"{len(domains)}")]
    cause = (
        "its GPUs are in a separate NVLink domain, another rack, and reach those of other nodes by InfiniBand "
        "alone: delete the machine, so that Azure may place its successor in the others' rack"
    )
    if alone:
        return [fails("nvlink-domain", asked, measured[node], cause, node=node) for node in alone]
    sides = "; ".join(f"{len(nodes)} in {domain}" for domain, nodes in domains.items())
    spread = f"the nodes are spread over more racks than they fill ({sides}): jobs over NVLink are that much smaller"
    return [make_check("nvlink-domain", "warn", expected=asked, measured=f"{len(domains)}", cause=spread)]
