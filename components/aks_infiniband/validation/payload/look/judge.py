"""Judges the facts of every node against what is expected."""

from __future__ import annotations

from collections.abc import Mapping

from ..say.checks import Check, compared, fails, not_measured, passes
from ..say.expectations import Accelerators, Expectations
from .alike import judge_partitions, judge_placement, judge_versions
from .hcas import judge_hcas, judge_verbs
from .judge_nvlink import judge_nvlink
from .kernel import Interface
from .node import Facts, FactsByNode


def judge_pool(facts_by_node: FactsByNode, expected: Expectations) -> list[Check]:
    """All checks: of the whole pool, of each node, and of the figures that are not measured by design."""
    checks = [_reported(facts_by_node, expected["node_count"]), *judge_partitions(facts_by_node)]
    checks.append(judge_placement(facts_by_node))
    checks += judge_versions(facts_by_node)
    for node in sorted(facts_by_node):
        checks += judge_node(node, facts_by_node[node], expected)
    if expected["nvlink"]:
        gpus = expected["accelerators"]["count"] if expected["accelerators"] else 0
        checks += judge_nvlink(facts_by_node, gpus, expected["nvlink"])
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
    """The check of one IPoIB interface that a pod of the pool has."""
    asked = "an InfiniBand interface with an address"
    addresses = interfaces.get(name)
    if addresses is None:
        seen = f"no {name}; the pod has {', '.join(sorted(interfaces)) or 'no interface'}"
        cause = "Multus did not attach the pod's networks: it was not on the node yet when the pod started"
    elif not addresses["infiniband"]:
        seen, cause = f"{name} is of another type", "the network's CNI plugin is not ipoib"
    elif not addresses["addresses"]:
        seen, cause = f"{name} has no address", "the IPPool lacks a block for the node, or its range is too small"
    else:
        measured = f"{name} {', '.join(addresses['addresses'])}"
        return passes("ipoib-interface", asked, measured, node=node, device=name)
    return fails("ipoib-interface", asked, seen, cause, node=node, device=name)


def _accelerators(node: str, facts: Facts, expected: Accelerators | None) -> list[Check]:
    if expected is None:
        return []
    seen = len(facts["accelerator_devices"])
    cause = (
        f"the pod requested {expected['count']} of {expected['resource']} and sees {seen} device files: a GPU has "
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
    """Check that pods that do not run as root can lock memory. The check runs only if the nodes are prepared for it."""
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
