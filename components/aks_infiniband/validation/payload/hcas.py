"""Checks of a node's HCAs: how many there are, their ports, and whether pods can use them and NCCL would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .checks import Check, make_check

Facts = Mapping[str, Any]


def judge_hcas(node: str, facts: Facts, expected: Mapping[str, Any]) -> list[Check]:
    """All checks of one node's HCAs."""
    return [
        _hca_count(node, facts, expected["hcas"]["count"]),
        *_hca_ports(node, facts, expected["hcas"]["rate_gbps"]),
        _hca_filter(node, facts),
        *_rdma_devices(node, facts, expected),
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


def in_pod(facts: Facts, device: str) -> bool:
    """Whether the pod can open the device; where the kernel does not say which file is whose, it is taken to."""
    return device not in facts["uverbs_of"] or facts["uverbs_of"][device] in facts["uverbs"]


def _hca_filter(node: str, facts: Facts) -> Check:
    hca_filter = facts["environment"].get("NCCL_IB_HCA", "")
    infiniband = sorted({hca["device"] for hca in facts["hcas"]})
    ethernet = {device for device in facts["ethernet_devices"] if in_pod(facts, device)}
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
    who = (
        f"the device plugin behind {expected['rdma_resource']} hands out only devices that its selectors match, to "
        "pods that ask for it"
        if expected["rdma_resource"]
        else "the host's /dev/infiniband, which the pod mounts, does not have it (modules ib_uverbs and mlx5_ib)"
    )
    cause = f"the pod lacks the device's /dev/infiniband/uverbs* file: {who}"
    closed = [hca["device"] for hca in facts["hcas"] if not in_pod(facts, hca["device"])]
    if closed:
        return [
            make_check("rdma-devices", "fail", node=node, device=device, expected="uverbs", measured=None, cause=cause)
            for device in closed
        ]
    if seen < count:
        return [make_check("rdma-devices", "fail", node=node, expected=count, measured=seen, cause=cause)]
    return [make_check("rdma-devices", "pass", node=node, expected=count, measured=seen)]
