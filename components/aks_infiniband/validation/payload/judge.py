"""Facts and expectations to checks: pure functions, plain data in and out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .checks import Check, make_check
from .fabric import judge_partitions

Facts = Mapping[str, Any]


def judge_pool(facts_by_node: Mapping[str, Facts], expected: Mapping[str, Any]) -> list[Check]:
    """All checks: of the pool as a whole, then of each node, then what nobody measured."""
    checks = [_reported(facts_by_node, expected["node_count"]), *judge_partitions(facts_by_node)]
    for node in sorted(facts_by_node):
        checks += judge_node(node, facts_by_node[node], expected)
    checks += [make_check(figure, "not measured", expected=None, measured=None) for figure in expected["not_measured"]]
    return checks


def judge_node(node: str, facts: Facts, expected: Mapping[str, Any]) -> list[Check]:
    """All checks of one node."""
    return [
        *_environment(node, facts, expected["environment"]),
        _hca_count(node, facts, expected["hcas"]["count"]),
        *_hca_ports(node, facts, expected["hcas"]["rate_gbps"]),
        _hca_filter(node, facts),
        *_rdma_devices(node, facts, expected),
        *_accelerators(node, facts, expected["accelerators"]),
        _memlock(node, facts),
        _shm(node, facts, expected["shm_bytes"]),
    ]


def _reported(facts_by_node: Mapping[str, Facts], node_count: int) -> Check:
    seen = len(facts_by_node)
    if seen == node_count:
        return make_check("nodes-reported", "pass", expected=node_count, measured=seen)
    cause = (
        f"only {', '.join(sorted(facts_by_node)) or 'nobody'} reported in time: the pods of the other nodes are "
        "Pending or have failed"
    )
    return make_check("nodes-reported", "fail", expected=node_count, measured=seen, cause=cause)


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


def _hca_count(node: str, facts: Facts, count: int) -> Check:
    present = [hca["device"] for hca in facts["hcas"]]
    if len(present) == count:
        return make_check("hca-count", "pass", node=node, expected=count, measured=count)
    cause = (
        f"InfiniBand devices seen: {', '.join(present) or 'none'}; with another link layer: "
        f"{', '.join(facts['ethernet_devices']) or 'none'}. A missing one is a fault of the host (recreate the node) "
        "or a driver that did not bind to it (dmesg | grep mlx5)"
    )
    return make_check("hca-count", "fail", node=node, expected=count, measured=len(present), cause=cause)


def _hca_ports(node: str, facts: Facts, rate_gbps: float) -> list[Check]:
    return [
        *_each_hca(
            "hca-state",
            node,
            facts,
            key="state",
            expected="ACTIVE",
            cause="the subnet manager has not brought the port up: INIT and ARMED pass by themselves within a minute, "
            "DOWN is a fault of the link",
        ),
        *_each_hca(
            "hca-physical-state",
            node,
            facts,
            key="physical_state",
            expected="LinkUp",
            cause="no link to the switch: a fault of the cable, the switch port or the host; recreate the node",
        ),
        *_each_hca(
            "hca-rate",
            node,
            facts,
            key="rate_gbps",
            expected=rate_gbps,
            cause="the link trained with fewer lanes or at another speed than the machine size has; recreate the node",
        ),
    ]


def _each_hca(name: str, node: str, facts: Facts, *, key: str, expected: object, cause: str) -> list[Check]:
    """One check when all devices are as expected (or there is none to ask), else one for each that is not."""
    hcas = facts["hcas"]
    if not hcas:
        nobody = "no InfiniBand device to ask"
        return [make_check(name, "not measured", node=node, expected=expected, measured=None, cause=nobody)]
    bad = [hca for hca in hcas if hca[key] != expected]
    if not bad:
        return [make_check(name, "pass", node=node, expected=expected, measured=expected)]
    return [
        make_check(name, "fail", node=node, device=hca["device"], expected=expected, measured=hca[key], cause=cause)
        for hca in bad
    ]


def selects(hca_filter: str, device: str) -> bool:
    """Whether NCCL_IB_HCA selects a device.

    The syntax is NCCL's ("Environment Variables", NCCL_IB_HCA): comma-separated prefixes; ``=`` in front makes
    them whole names, ``^`` excludes; a port after a colon is ignored here, since every HCA has one. Empty selects all.
    """
    exclude = hca_filter.startswith("^")
    text = hca_filter[1:] if exclude else hca_filter
    exact = text.startswith("=")
    names = [name.partition(":")[0] for name in text.removeprefix("=").split(",") if name]
    if not names:
        return True
    return any(device == name if exact else device.startswith(name) for name in names) != exclude


def _in_pod(facts: Facts, device: str) -> bool:
    """Whether the pod can open the device; where the kernel does not say which file is whose, it is taken to."""
    return device not in facts["uverbs_of"] or facts["uverbs_of"][device] in facts["uverbs"]


def _hca_filter(node: str, facts: Facts) -> Check:
    hca_filter = facts["environment"].get("NCCL_IB_HCA", "")
    infiniband = sorted({hca["device"] for hca in facts["hcas"]})
    ethernet = {device for device in facts["ethernet_devices"] if _in_pod(facts, device)}
    chosen = [device for device in sorted({*infiniband, *ethernet}) if selects(hca_filter, device)]
    if chosen == infiniband:
        count = f"{len(infiniband)} InfiniBand devices"
        return make_check("nccl-hca-filter", "pass", node=node, expected=count, measured=count)
    cause = (
        f"NCCL_IB_HCA={hca_filter!r} does not choose exactly this node's InfiniBand devices: NCCL would use "
        "fewer of them, the Ethernet one, or TCP sockets"
    )
    shown, seen = ", ".join(infiniband) or "none", ", ".join(chosen) or "none"
    return make_check("nccl-hca-filter", "fail", node=node, expected=shown, measured=seen, cause=cause)


def _rdma_devices(node: str, facts: Facts, expected: Mapping[str, Any]) -> list[Check]:
    count = expected["hcas"]["count"]
    seen = len(facts["uverbs"])
    cause = (
        "the pod lacks the device's /dev/infiniband/uverbs* file: the device plugin behind "
        f"{expected['rdma_resource']} hands out only devices that its selectors match, to pods that ask for it"
    )
    closed = [hca["device"] for hca in facts["hcas"] if not _in_pod(facts, hca["device"])]
    if closed:
        return [
            make_check("rdma-devices", "fail", node=node, device=device, expected="uverbs", measured=None, cause=cause)
            for device in closed
        ]
    if seen < count:
        return [make_check("rdma-devices", "fail", node=node, expected=count, measured=seen, cause=cause)]
    return [make_check("rdma-devices", "pass", node=node, expected=count, measured=seen)]


def _accelerators(node: str, facts: Facts, expected: Mapping[str, Any] | None) -> list[Check]:
    if expected is None:
        return []
    seen = len(facts["accelerator_devices"])
    if seen == expected["count"]:
        return [make_check("accelerator-devices", "pass", node=node, expected=seen, measured=seen)]
    cause = (
        f"the pod asked for {expected['count']} of {expected['resource']} and sees {seen} device files: a GPU has "
        "dropped off the bus, or the container runtime does not use the vendor's toolkit"
    )
    return [
        make_check("accelerator-devices", "fail", node=node, expected=expected["count"], measured=seen, cause=cause)
    ]


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


def _shm(node: str, facts: Facts, least: int) -> Check:
    seen = facts["shm_bytes"]
    if seen is not None and seen >= least:
        return make_check("shm", "pass", node=node, expected=least, measured=seen)
    cause = "NCCL's shared memory does not fit (No space left on device): mount a memory-backed emptyDir at /dev/shm"
    return make_check("shm", "fail", node=node, expected=least, measured=seen, cause=cause)
