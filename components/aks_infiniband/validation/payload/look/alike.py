"""The facts that have to be the same on all nodes of a pool: the partition, the placement group, the versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..say.checks import Check, fails, make_check, not_measured, passes
from ..say.lines import where
from .kernel import Hca
from .node import FactsByNode

_DEFAULT_PARTITION = 0x7FFF
_MEMBERSHIP_BIT = 0x8000
"""Bit 15 of a key says full or limited member; 0x7fff is the default partition, for management (IBTA 1.4, 10.9)."""
_ASKED = "the same on every node"


def partitions(hca: Hca) -> tuple[int, ...]:
    """The partitions a port belongs to: its keys without the membership bit, the default partition left out."""
    numbers = {int(key, 16) & ~_MEMBERSHIP_BIT for key in hca["partition_keys"]}
    return tuple(sorted(numbers - {_DEFAULT_PARTITION}))


def judge_partitions(facts_by_node: FactsByNode) -> list[Check]:
    """One check of all nodes, and one for every HCA that differs from the others of its node.

    Azure isolates tenants and placement groups from one another by InfiniBand partitions: machines on different ones
    have Active links and no path between them.
    """
    with_hcas = {node: facts_by_node[node]["hcas"] for node in sorted(facts_by_node) if facts_by_node[node]["hcas"]}
    return [_across(with_hcas), *(check for node, hcas in with_hcas.items() for check in _within(node, hcas))]


def _shown(numbers: Sequence[int]) -> str:
    return ",".join(f"0x{number:04x}" for number in numbers) or "only the default"


def _usual(hcas: Sequence[Hca]) -> tuple[int, ...]:
    """The partitions most of a node's HCAs are on."""
    all_of_them = [partitions(hca) for hca in hcas]
    return max(all_of_them, key=all_of_them.count)


def _across(hcas_by_node: Mapping[str, Sequence[Hca]]) -> Check:
    groups = _alike({node: _shown(_usual(hcas)) for node, hcas in hcas_by_node.items()})
    measured = {node: numbers for numbers, nodes in groups.items() for node in nodes}
    if not groups:
        return not_measured("partition-keys", "no InfiniBand device to query", expected=_ASKED)
    if len(groups) == 1:
        return passes("partition-keys", _ASKED, next(iter(groups)))
    sides = "; ".join(f"{', '.join(nodes)} on {numbers}" for numbers, nodes in groups.items())
    cause = (
        f"nodes {', '.join(sorted(measured))} are on different partitions ({sides}): different fabrics, with no path "
        "between them. AKSInfinibandSupport was not registered when the pool was created, or the provider "
        "Microsoft.ContainerService not again since: register both, then recreate the pool"
    )
    return fails("partition-keys", _ASKED, measured, cause)


def _within(node: str, hcas: Sequence[Hca]) -> list[Check]:
    asked, cause = _usual(hcas), "this HCA is on another partition than the others of its node: recreate the node"
    return [
        fails("partition-keys", _shown(asked), _shown(partitions(hca)), cause, node=node, device=hca["device"])
        for hca in hcas
        if partitions(hca) != asked
    ]


def judge_placement(facts_by_node: FactsByNode) -> Check:
    """Check that all machines are in one placement group: those of two lack a common fabric (kubernetes-sigs/dranet,
    GB300 README). If Azure's metadata cannot be read, the check says why, and nothing fails by that.
    """
    places = {node: facts["placement"] for node, facts in sorted(facts_by_node.items())}
    groups = _alike({node: place["group"] for node, place in places.items() if place["group"]})
    if len(groups) > 1:
        sides = "; ".join(f"{', '.join(nodes)} in {group}" for group, nodes in groups.items())
        sets = ", ".join(sorted({str(place["scale_set"]) for place in places.values() if place["group"]}))
        cause = (
            f"the machines are in different placement groups ({sides}), without an InfiniBand path between them, "
            f"though all ports are Active: see whether scale set {sets} has singlePlacementGroup=true (az vmss show), "
            "and recreate the pool, or the machines of the smaller group"
        )
        return fails("placement-group", _ASKED, {node: place["group"] for node, place in places.items()}, cause)
    silent = _alike({node: place["said"] for node, place in places.items() if place["said"]})
    if silent or not groups:
        shown = "; ".join(f"{', '.join(nodes)}: {said}" for said, nodes in silent.items())
        return make_check("placement-group", "not measured", expected=_ASKED, measured=shown or None)
    return passes("placement-group", _ASKED, next(iter(groups)))


def _alike(by_node: Mapping[str, str]) -> dict[str, list[str]]:
    """The nodes of each value."""
    groups: dict[str, list[str]] = {}
    for node, value in by_node.items():
        groups.setdefault(value, []).append(node)
    return groups


def judge_versions(facts_by_node: FactsByNode) -> list[Check]:
    """One check if everything is the same on every node; otherwise one for each thing that differs."""
    versions = {node: facts["versions"] for node, facts in sorted(facts_by_node.items())}
    names = sorted({name for of_node in versions.values() for name in of_node})
    checks = []
    for name in names:
        groups = _alike({node: str(of_node.get(name)) for node, of_node in versions.items()})
        if len(groups) > 1:
            measured = {value: ", ".join(nodes) for value, nodes in groups.items()}
            sides = "; ".join(f"{where(dict.fromkeys(nodes, ()), 3)}: {value}" for value, nodes in groups.items())
            cause = (
                f"the nodes differ in {name} ({sides}): an image or driver that is being rolled out, or nodes of "
                "different age"
            )
            checks.append(make_check("versions", "warn", device=name, expected=_ASKED, measured=measured, cause=cause))
    if checks or not versions:
        return checks
    return [passes("versions", _ASKED, next(iter(versions.values())))]
