"""Checks of a node's HCAs: how many there are, their ports, and whether pods can use them and NCCL would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..say.checks import Check, fails, make_check, not_measured, passes
from ..say.expectations import Expectations
from .node import Facts
from .port_rate import judge_rates

_NO_DEVICE = "no InfiniBand device to query"


def judge_hcas(node: str, facts: Facts, expected: Expectations) -> list[Check]:
    """All checks of one node's HCAs."""
    return [
        _hca_count(node, facts, expected),
        *_hca_ports(node, facts),
        *judge_rates(node, facts["hcas"], expected),
        _hca_filter(node, facts),
        *_rdma_devices(node, facts, expected),
    ]


def _hca_count(node: str, facts: Facts, expected: Expectations) -> Check:
    count, present = expected["hcas"]["count"], [hca["device"] for hca in facts["hcas"]]
    if len(present) == count:
        return passes("hca-count", count, node=node)
    if len(present) > count:
        cause = (
            f"InfiniBand devices seen: {', '.join(present)}. The table of machine sizes says {count} for "
            f"{expected['vm_size']}. The table is wrong, not the machine: describe the size with infiniband.hcaCount "
            "in aks-infiniband:sizes, and report it"
        )
        return make_check("hca-count", "warn", expected=count, measured=len(present), cause=cause, node=node)
    cause = (
        f"InfiniBand devices seen: {', '.join(present) or 'none'}; with another link layer: "
        f"{', '.join(facts['ethernet_devices']) or 'none'}. A missing one is a fault of the host (recreate the node) "
        "or a driver that did not bind to it (dmesg | grep mlx5)"
    )
    return fails("hca-count", count, len(present), cause, node=node)


_PORT_CHECKS = {
    "hca-state": (
        "state",
        "the subnet manager has not brought the port up: INIT and ARMED pass by themselves within a minute, DOWN is a "
        "fault of the link",
    ),
    "hca-physical-state": (
        "physical_state",
        "no link to the switch: a fault of the cable, the switch port or the host; recreate the node",
    ),
}
"""By check, the fact of a port that it judges, and what is wrong if the fact is not as expected."""


def _hca_ports(node: str, facts: Facts) -> list[Check]:
    """For each fact, one check if all ports are as expected or none exists; otherwise one for each port that is not."""
    asked = {"hca-state": "ACTIVE", "hca-physical-state": "LinkUp"}
    if not facts["hcas"]:
        return [not_measured(name, _NO_DEVICE, expected=expected, node=node) for name, expected in asked.items()]
    checks = []
    for name, (fact, cause) in _PORT_CHECKS.items():
        seen = {hca["device"]: dict(hca)[fact] for hca in facts["hcas"]}
        bad = [
            fails(name, asked[name], value, cause, node=node, device=device)
            for device, value in seen.items()
            if value != asked[name]
        ]
        checks += bad or [passes(name, asked[name], node=node)]
    return checks


def selects(hca_filter: str, device: str) -> bool:
    """True if NCCL_IB_HCA selects a device.

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
    """True if the pod can open the device. If the kernel does not say which file is its own, it counts as open."""
    return device not in facts["uverbs_of"] or facts["uverbs_of"][device] in facts["uverbs"]


def _hca_filter(node: str, facts: Facts) -> Check:
    """The check of the pod's NCCL_IB_HCA. A pod may have none, because the program that starts NCCL then lists the
    InfiniBand devices.
    """
    hca_filter = facts["environment"].get("NCCL_IB_HCA")
    infiniband = sorted({hca["device"] for hca in facts["hcas"]})
    ethernet = {device for device in facts["ethernet_devices"] if in_pod(facts, device)}
    chosen = [device for device in sorted({*infiniband, *ethernet}) if selects(hca_filter or "", device)]
    if hca_filter is None or chosen == infiniband:
        return passes("nccl-hca-filter", f"{len(infiniband)} InfiniBand devices", node=node)
    cause = (
        f"NCCL_IB_HCA={hca_filter!r} does not choose exactly this node's InfiniBand devices: NCCL would use "
        "fewer of them, the Ethernet one, or TCP sockets"
    )
    return fails("nccl-hca-filter", ", ".join(infiniband) or "none", ", ".join(chosen) or "none", cause, node=node)


def _rdma_devices(node: str, facts: Facts, expected: Expectations) -> list[Check]:
    count = expected["hcas"]["count"]
    seen = len(facts["uverbs"])
    cause = f"the pod lacks the device's /dev/infiniband/uverbs* file: {_who(expected)}"
    closed = [hca["device"] for hca in facts["hcas"] if not in_pod(facts, hca["device"])]
    if closed:
        return [fails("rdma-devices", "uverbs", None, cause, node=node, device=device) for device in closed]
    if seen < count:
        return [fails("rdma-devices", count, seen, cause, node=node)]
    return [passes("rdma-devices", count, seen, node=node)]


def _who(expected: Expectations) -> str:
    """The program that hands out devices, and its condition."""
    if expected["mode"] == "dra":
        return "dranet hands out only the devices of the pod's claim"
    return (
        f"the device plugin behind {expected['rdma_resource']} hands out only devices that its selectors match, to "
        "pods that request it"
        if expected["rdma_resource"]
        else "the host's /dev/infiniband, which the pod mounts, does not have it (modules ib_uverbs and mlx5_ib)"
    )


_ACTIVE = {"state": "PORT_ACTIVE", "link_layer": "InfiniBand"}


def judge_verbs(node: str, facts: Facts) -> Check:
    """Check that libibverbs sees every HCA that sysfs shows, Active and with InfiniBand."""
    devices = list(dict.fromkeys(hca["device"] for hca in facts["hcas"]))
    ports, said = facts["verbs"]["ports"], facts["verbs"]["said"]
    count = len(devices)
    if not devices:
        return not_measured("verbs-devices", _NO_DEVICE, node=node)
    if ports is None:
        return not_measured("verbs-devices", f"libibverbs could not be queried: {said}", expected=count, node=node)
    lacking = [device for device in devices if _ACTIVE not in ports.get(device, [])]
    if not lacking:
        return passes("verbs-devices", count, node=node)
    return fails("verbs-devices", count, count - len(lacking), _cause(lacking, facts, ports, said), node=node)


def _cause(lacking: Sequence[str], facts: Facts, ports: Mapping[str, list[dict[str, str]]], said: str | None) -> str:
    unseen = [device for device in lacking if device not in ports]
    closed = [device for device in unseen if not facts["uverbs"] or not in_pod(facts, device)]
    unknown = [device for device in unseen if device not in closed]
    parts = []
    if closed:
        parts.append(f"{', '.join(closed)}: the file in /dev/infiniband is not in the pod, see rdma-devices")
    if unknown:
        parts.append(
            f"{', '.join(unknown)}: the image lacks libibverbs or its provider libmlx5, or has one that does not fit, "
            "and NCCL and UCX would use TCP sockets; packages rdma-core or libibverbs (Azure Linux), libibverbs1 and "
            "ibverbs-providers (Ubuntu)"
        )
    parts += [f"{device}: {_shown(ports[device])}" for device in lacking if device in ports]
    return "; ".join([*parts, *([said] if unseen and said else [])])


def _shown(ports: Sequence[Mapping[str, str]]) -> str:
    shown = " and ".join(f"{port.get('state')}, link layer {port.get('link_layer')}" for port in ports)
    return f"libibverbs shows it as {shown or 'a device without port'}, see hca-state"
