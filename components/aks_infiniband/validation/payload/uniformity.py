"""Whether all nodes are on one fabric, judged by the partitions their ports belong to.

Azure isolates tenants and placement groups from one another by InfiniBand partitions: machines on different ones have
Active links and no path between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .checks import Check, make_check, not_measured
from .documents import FactsByNode, Hca

_DEFAULT_PARTITION = 0x7FFF
_MEMBERSHIP_BIT = 0x8000
"""Bit 15 of a key says full or limited member; 0x7fff is the default partition, for management (IBTA 1.4, 10.9)."""

_ASKED = "the same on every node"


def partitions(hca: Hca) -> tuple[int, ...]:
    """The partitions a port belongs to: its keys without the membership bit, the default partition left out."""
    numbers = {int(key, 16) & ~_MEMBERSHIP_BIT for key in hca["partition_keys"]}
    return tuple(sorted(numbers - {_DEFAULT_PARTITION}))


def judge_partitions(facts_by_node: FactsByNode) -> list[Check]:
    """One check across the nodes, and one for every HCA that differs from the others of its node."""
    with_hcas = {node: facts_by_node[node]["hcas"] for node in sorted(facts_by_node) if facts_by_node[node]["hcas"]}
    return [_across(with_hcas), *(check for node, hcas in with_hcas.items() for check in _within(node, hcas))]


def _shown(numbers: Sequence[int]) -> str:
    return ",".join(f"0x{number:04x}" for number in numbers) or "only the default"


def _usual(hcas: Sequence[Hca]) -> tuple[int, ...]:
    """The partitions most of a node's HCAs are on."""
    all_of_them = [partitions(hca) for hca in hcas]
    return max(all_of_them, key=all_of_them.count)


def _across(hcas_by_node: Mapping[str, Sequence[Hca]]) -> Check:
    groups: dict[tuple[int, ...], list[str]] = {}
    for node, hcas in hcas_by_node.items():
        groups.setdefault(_usual(hcas), []).append(node)
    measured = {node: _shown(numbers) for numbers, nodes in groups.items() for node in nodes}
    if not groups:
        return not_measured("partition-keys", "no InfiniBand device to ask", expected=_ASKED)
    if len(groups) == 1:
        return make_check("partition-keys", "pass", expected=_ASKED, measured=_shown(next(iter(groups))))
    sides = "; ".join(f"{', '.join(nodes)} on {_shown(numbers)}" for numbers, nodes in groups.items())
    cause = (
        f"nodes {', '.join(sorted(measured))} are on different partitions ({sides}): different fabrics, with no path "
        "between them. AKSInfinibandSupport was not registered when the pool was created: register it, then recreate "
        "the pool"
    )
    return make_check("partition-keys", "fail", expected=_ASKED, measured=measured, cause=cause)


def _within(node: str, hcas: Sequence[Hca]) -> list[Check]:
    usual = _usual(hcas)
    return [
        make_check(
            "partition-keys",
            "fail",
            node=node,
            device=hca["device"],
            expected=_shown(usual),
            measured=_shown(partitions(hca)),
            cause="this HCA is on another partition than the others of its node: recreate the node",
        )
        for hca in hcas
        if partitions(hca) != usual
    ]


def judge_versions(facts_by_node: FactsByNode) -> list[Check]:
    """One check where everything is the same on every node, one for each thing that is not."""
    versions = {node: facts["versions"] for node, facts in sorted(facts_by_node.items())}
    names = sorted({name for of_node in versions.values() for name in of_node})
    checks = []
    for name in names:
        groups: dict[str, list[str]] = {}
        for node, of_node in versions.items():
            groups.setdefault(str(of_node.get(name)), []).append(node)
        if len(groups) > 1:
            measured = {value: ", ".join(nodes) for value, nodes in groups.items()}
            cause = (
                f"the nodes differ in {name}: an image or driver that is being rolled out, or nodes of different age"
            )
            checks.append(make_check("versions", "warn", device=name, expected=_ASKED, measured=measured, cause=cause))
    if checks or not versions:
        return checks
    common = next(iter(versions.values()))
    return [make_check("versions", "pass", expected=_ASKED, measured=common)]
