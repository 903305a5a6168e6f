"""Facts and expectations to checks: pure functions, plain data in and out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .checks import Check, compared, make_check, not_measured
from .documents import Accelerators, Expectations, Facts, FactsByNode, Interface
from .hcas import judge_hcas, judge_verbs
from .uniformity import judge_partitions, judge_versions


def judge_pool(facts_by_node: FactsByNode, expected: Expectations) -> list[Check]:
    """All checks: of the pool as a whole, then of each node, then what nobody measured."""
    checks = [_reported(facts_by_node, expected["node_count"]), *judge_partitions(facts_by_node)]
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
        *_interfaces(node, facts, expected["interfaces"]),
        *_accelerators(node, facts, expected["accelerators"]),
        _memlock(node, facts),
        *_memlock_for_all(node, facts, promised=expected["memlock_for_all"]),
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
    wrong = [name for name in sorted(expected) if seen.get(name) != expected[name]]
    if not wrong:
        return [make_check("environment", "pass", node=node, expected=len(expected), measured=len(expected))]
    return [
        make_check(
            "environment",
            "fail",
            node=node,
            expected=f"{name}={expected[name]}",
            measured=f"{name}={seen[name]}" if name in seen else f"{name} not set",
            cause="the pod's environment does not come from the pool's workload ConfigMap, or the image overrides it",
        )
        for name in wrong
    ]


def _interfaces(node: str, facts: Facts, expected: Sequence[str]) -> list[Check]:
    """One check for each IPoIB interface that a pod of the pool has."""
    return [_interface(node, facts["interfaces"], name) for name in expected]


def _interface(node: str, interfaces: Mapping[str, Interface], name: str) -> Check:
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
        return make_check("ipoib-interface", "pass", node=node, device=name, expected=asked, measured=measured)
    return make_check("ipoib-interface", "fail", node=node, device=name, expected=asked, measured=seen, cause=cause)


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
    limit = facts["memlock_bytes"]
    shown = {None: "unreadable", -1: "unlimited"}.get(limit, f"{limit} bytes")
    asked = "unlimited, or IPC_LOCK"
    if limit == -1 or facts["ipc_lock"]:
        measured = f"{shown}, IPC_LOCK" if facts["ipc_lock"] else shown
        return make_check("memlock", "pass", node=node, expected=asked, measured=measured)
    cause = (
        "RDMA memory cannot be registered (ibv_reg_mr: Cannot allocate memory): the container lacks IPC_LOCK, or runs "
        "as a user other than root, for whom it does nothing"
    )
    return make_check("memlock", "fail", node=node, expected=asked, measured=shown, cause=cause)


def _memlock_for_all(node: str, facts: Facts, *, promised: bool) -> list[Check]:
    """Whether pods that do not run as root can lock memory, where the nodes are prepared for it."""
    if not promised:
        return []
    limit = facts["memlock_bytes_non_root"]
    shown = {None: "unreadable", -1: "unlimited"}.get(limit, f"{limit} bytes")
    cause = (
        "the node preparation has not lifted the limit of containerd and kubelet on this node (networkOperator."
        "nodePreparation): see its pod there"
    )
    return [compared("memlock-non-root", "unlimited", shown, cause, node=node)]


def _shm(node: str, facts: Facts, least: int) -> Check:
    seen = facts["shm_bytes"]
    if seen is not None and seen >= least:
        return make_check("shm", "pass", node=node, expected=least, measured=seen)
    cause = "NCCL's shared memory does not fit (No space left on device): mount a memory-backed emptyDir at /dev/shm"
    return make_check("shm", "fail", node=node, expected=least, measured=seen, cause=cause)
