"""The error counters of InfiniBand ports, before and after a measurement.

A pod's own /sys has none: RDMA devices are shared between network namespaces, and the kernel makes `ports/1/counters`
in the machine's alone (Linux, drivers/infiniband/core/sysfs.c, `process_mad && is_full_dev`; nebius/soperator issue
403). So they are read if the pod has the machine's mounted.

Limits on their growth are those of Azure's fleet check (Azure/ai-infrastructure-on-azure a01b073, skills/slurm/
ib_link_validation): any symbol error or link that went down, more than 100 receive errors, more than 1000 discards.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal

from ..say.checks import Check, make_check, not_measured, passes
from ..talk.time_left import TIME_IS_UP

Counters = dict[str, dict[str, int]]
"""Device to error counter to value."""

LIMITS: Mapping[str, int] = {
    "symbol_error": 0,
    "link_downed": 0,
    "port_rcv_errors": 100,
    "port_xmit_discards": 1000,
    "link_error_recovery": 0,
    "local_link_integrity_errors": 0,
    "excessive_buffer_overrun_errors": 0,
}
"""By how much each counter may grow while a pool is measured (Linux, Documentation/ABI/stable/sysfs-class-infiniband).
"""
Unread = Literal["enforce", "warn", "off"]
"""The consequence for a node whose counters cannot be read: it fails the validation, or the report warns of it. off: no
program looks.
"""
_UNREAD = (
    "not every port has counters in the machine's /sys/class/infiniband, which the pod has mounted, or its pod did not "
    "answer: whether links have lost packets is unknown (validation.errorCounters)"
)
_FATAL = frozenset({"symbol_error", "link_downed"})


def read_counters(devices: Path | None) -> Counters:
    """Every counter of every InfiniBand port, without those that a device does not have.

    devices: the machine's own /sys/class/infiniband; None if the pod does not have it.
    """
    counters: Counters = {}
    for folder in sorted(devices.glob("*/ports/1/counters") if devices else ()):
        values = {name: _number(folder / name) for name in LIMITS}
        counters[folder.parents[2].name] = {name: value for name, value in values.items() if value is not None}
    return counters


def growth(before: Mapping[str, Mapping[str, int]], after: Mapping[str, Mapping[str, int]]) -> Counters:
    """By how much each counter has grown."""
    return {
        device: {name: after[device][name] - value for name, value in values.items() if name in after[device]}
        for device, values in before.items()
        if device in after
    }


def judge_counters(
    growth_by_node: Mapping[str, Mapping[str, Mapping[str, int]]], unread: Unread, late: Collection[str] = ()
) -> list[Check]:
    """One check if all is well; otherwise one for every counter that grew too much, and one for every node whose
    counters are not known.

    unread: the verdict on a node whose counters cannot be read. late: nodes without a second reading, because time was
    up.
    """
    asked = f"each of {len(LIMITS)} counters within its limit"
    if unread == "off":
        return [not_measured("error-counters", None, expected=asked)]
    checks = [
        make_check(
            "error-counters",
            "fail" if name in _FATAL else "warn",
            node=node,
            device=device,
            expected=f"at most {LIMITS[name]} more {name}",
            measured=f"{value} more",
            cause="the link loses packets while it is used: a cable, a transceiver or a port of a switch; recreate the "
            "node",
        )
        for node in sorted(growth_by_node)
        for device, values in growth_by_node[node].items()
        for name, value in values.items()
        if value > LIMITS[name]
    ]
    verdict = "not measured" if unread == "enforce" else "warn"
    checks += [
        make_check(
            "error-counters",
            verdict,
            node=node,
            expected=asked,
            measured=None,
            cause=TIME_IS_UP if node in late else _UNREAD,
        )
        for node, devices in sorted(growth_by_node.items())
        if not devices or not all(devices.values())
    ]
    return checks or [passes("error-counters", asked, f"0 of {len(LIMITS)} above")]


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
