"""Judges the facts of every node against what is expected, and what has to be the same on all nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..say.checks import Check, compared, fails, make_check, not_measured, passes, where
from ..say.expectations import Accelerators, Expectations
from .facts import Facts, FactsByNode
from .hcas import judge_hcas, judge_verbs
from .kernel import Hca, Interface


def judge_pool(facts_by_node: FactsByNode, expected: Expectations) -> list[Check]:
    """All checks: of the pool as a whole, then of each node, then the figures that are not measured by design."""
    checks = [_reported(facts_by_node, expected["node_count"]), *judge_partitions(facts_by_node)]
    checks.append(judge_placement(facts_by_node))
    checks += judge_versions(facts_by_node)
    for node in sorted(facts_by_node):
        checks += judge_node(node, facts_by_node[node], expected)
    checks += [not_measured(figure, None) for figure in expected["not_measured"]]
    return checks


def judge_node(node: str, facts: Facts, expected: Expectations) -> list[Check]:
    """All checks of one node."""
    return [
        *_environment(node, facts, expected["environment"]),
        *judge_hcas(node, facts, expected),
        judge_verbs(node, facts),
        *(_interface(node, facts["interfaces"], name) for name in expected["interfaces"]),
        *_accelerators(node, facts, expected["accelerators"]),
        _memlock(node, facts),
        *([_memlock_for_all(node, facts)] if expected["memlock_for_all"] else []),
        _shm(node, facts, expected["shm_bytes"]),
    ]


def _reported(facts_by_node: FactsByNode, node_count: int) -> Check:
    cause = (
        f"only {', '.join(sorted(facts_by_node)) or 'nobody'} reported in time: the pods of the other nodes are "
        "Pending or have failed"
    )
    return compared("nodes-reported", node_count, len(facts_by_node), cause)


def _environment(node: str, facts: Facts, expected: Mapping[str, str]) -> list[Check]:
    seen = facts["environment"]
    cause = "the pod's environment does not come from the pool's workload ConfigMap, or the image overrides it"
    wrong = [name for name in sorted(expected) if seen.get(name) != expected[name]]
    shown = {name: f"{name}={seen[name]}" if name in seen else f"{name} not set" for name in wrong}
    checks = [fails("environment", f"{name}={expected[name]}", shown[name], cause, node=node) for name in wrong]
    return checks or [passes("environment", len(expected), node=node)]


def _interface(node: str, interfaces: Mapping[str, Interface], name: str) -> Check:
    """Of one IPoIB interface that a pod of the pool has."""
    asked = "an InfiniBand interface with an address"
    found = interfaces.get(name)
    if found is None:
        seen = f"no {name}; the pod has {', '.join(sorted(interfaces)) or 'no interface'}"
        cause = "Multus did not attach the pod's networks: it was not on the node yet when the pod started"
    elif not found["infiniband"]:
        seen, cause = f"{name} is of another type", "the network's CNI plugin is not ipoib"
    elif not found["addresses"]:
        seen, cause = f"{name} has no address", "the IPPool has no block left for the node, or its range is too small"
    else:
        measured = f"{name} {', '.join(found['addresses'])}"
        return passes("ipoib-interface", asked, measured, node=node, device=name)
    return fails("ipoib-interface", asked, seen, cause, node=node, device=name)


def _accelerators(node: str, facts: Facts, expected: Accelerators | None) -> list[Check]:
    if expected is None:
        return []
    seen = len(facts["accelerator_devices"])
    cause = (
        f"the pod asked for {expected['count']} of {expected['resource']} and sees {seen} device files: a GPU has "
        "dropped off the bus, or the container runtime does not use the vendor's toolkit"
    )
    return [compared("accelerator-devices", expected["count"], seen, cause, node=node)]


def _memlock(node: str, facts: Facts) -> Check:
    limit, shown = facts["memlock_bytes"], _limit_text(facts["memlock_bytes"])
    asked = "unlimited, or IPC_LOCK"
    if limit == -1 or facts["ipc_lock"]:
        return passes("memlock", asked, f"{shown}, IPC_LOCK" if facts["ipc_lock"] else shown, node=node)
    cause = (
        "RDMA memory cannot be registered (ibv_reg_mr: Cannot allocate memory): the container lacks IPC_LOCK, or runs "
        "as a user other than root, for whom it does nothing"
    )
    return fails("memlock", asked, shown, cause, node=node)


def _memlock_for_all(node: str, facts: Facts) -> Check:
    """Whether pods that do not run as root can lock memory, where the nodes are prepared for it."""
    cause = (
        "the node preparation has not lifted the limit of containerd and kubelet on this node (networkOperator."
        "nodePreparation): see its pod there"
    )
    return compared("memlock-non-root", "unlimited", _limit_text(facts["memlock_bytes_non_root"]), cause, node=node)


def _limit_text(limit: int | None) -> str:
    return {None: "unreadable", -1: "unlimited"}.get(limit, f"{limit} bytes")


def _shm(node: str, facts: Facts, least: int) -> Check:
    seen = facts["shm_bytes"]
    if seen is not None and seen >= least:
        return passes("shm", least, seen, node=node)
    cause = "NCCL's shared memory does not fit (No space left on device): mount a memory-backed emptyDir at /dev/shm"
    return fails("shm", least, seen, cause, node=node)


_DEFAULT_PARTITION = 0x7FFF
_MEMBERSHIP_BIT = 0x8000
"""Bit 15 of a key says full or limited member; 0x7fff is the default partition, for management (IBTA 1.4, 10.9)."""

_ASKED = "the same on every node"


def partitions(hca: Hca) -> tuple[int, ...]:
    """The partitions a port belongs to: its keys without the membership bit, the default partition left out."""
    numbers = {int(key, 16) & ~_MEMBERSHIP_BIT for key in hca["partition_keys"]}
    return tuple(sorted(numbers - {_DEFAULT_PARTITION}))


def judge_partitions(facts_by_node: FactsByNode) -> list[Check]:
    """One check across the nodes, and one for every HCA that differs from the others of its node.

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
        return not_measured("partition-keys", "no InfiniBand device to ask", expected=_ASKED)
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
    """Whether all machines are in one placement group: those of two have no fabric in common (kubernetes-sigs/dranet,
    GB300 README). Where Azure's metadata cannot be asked, the check says why, and nothing fails by that.
    """
    places = {node: facts["placement"] for node, facts in sorted(facts_by_node.items())}
    groups = _alike({node: place["group"] for node, place in places.items() if place["group"]})
    if len(groups) > 1:
        sides = "; ".join(f"{', '.join(nodes)} in {group}" for group, nodes in groups.items())
        sets = ", ".join(sorted({str(place["scale_set"]) for place in places.values() if place["group"]}))
        cause = (
            f"the machines are in different placement groups ({sides}), which have no InfiniBand path between them, "
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
    """One check where everything is the same on every node, one for each thing that is not."""
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
