"""The error counters of InfiniBand ports, before and after a measurement.

Limits on their growth are those of Azure's fleet check (Azure/ai-infrastructure-on-azure a01b073, skills/slurm/
ib_link_validation): any symbol error or link that went down, more than 100 receive errors, more than 1000 discards.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .checks import Check, make_check, not_measured, passes

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
"""By how much each may grow while a pool is measured (Linux, Documentation/ABI/stable/sysfs-class-infiniband)."""
_FATAL = frozenset({"symbol_error", "link_downed"})


def read_counters(sys_root: Path) -> Counters:
    """Every counter of every InfiniBand port; those that a device does not have, left out."""
    found: Counters = {}
    for folder in sorted(sys_root.glob("class/infiniband/*/ports/1/counters")):
        values = {name: _number(folder / name) for name in LIMITS}
        found[folder.parents[2].name] = {name: value for name, value in values.items() if value is not None}
    return found


def growth(before: Mapping[str, Mapping[str, int]], after: Mapping[str, Mapping[str, int]]) -> Counters:
    """By how much each counter has grown."""
    return {
        device: {name: after[device][name] - value for name, value in values.items() if name in after[device]}
        for device, values in before.items()
        if device in after
    }


def judge_counters(growth_by_node: Mapping[str, Mapping[str, Mapping[str, int]]]) -> list[Check]:
    """One check for all, or one for every counter that grew too much."""
    asked = f"each of {len(LIMITS)} counters within its limit"
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
    if not any(values for devices in growth_by_node.values() for values in devices.values()):
        return [not_measured("error-counters", None, expected=asked)]
    return checks or [passes("error-counters", asked, f"0 of {len(LIMITS)} above")]


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
