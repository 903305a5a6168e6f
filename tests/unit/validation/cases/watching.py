"""The watch of the light check: the nodes that have to be measured, and those that pods may come to."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from aks_infiniband.facts.node_gate import NOT_MEASURED as TAINT
from aks_infiniband.validation.payload.light_check.due import Look, Signs, judge

from tests.cases import Case, patched

POOL: Final = {
    "name": "nd",
    "selector": "",
    "admission": "measured",
    "maintenance": "keep",
    "promised": {"rdma/ib": 8},
    "report": "r",
    "runs": ["r", "r-now"],
}
_SIGNS: Final = Signs(["XIDErrors"], ["FreezeScheduled", "VMEventScheduled"])
_MINUTE: Final = "1970-01-01T00:01:00+00:00"
_BEFORE: Final[Mapping[str, list[Any]]] = {
    "nothing": [],
    "a": [{"nodes": {"a": {}}}],
    "a, then b": [{"nodes": {"a": {}}}, {"nodes": {"a": {}, "b": {}}}],
    "a, then b with the taint": [
        {"nodes": {"a": {}}},
        {"nodes": {"a": {}, "b": {}}},
        {"nodes": {"a": {}, "b": {"taint": True}}},
    ],
}
"""The looks before those of a case."""


def node_of(name: str = "a", *, taint: bool = False, offers: str = "8", **more: Any) -> dict[str, Any]:
    """A node that is ready; a and b are on different machines."""
    info = {"bootID": more.get("boot", "b1"), "systemUUID": more.get("vm", "v2" if name == "b" else "v1")}
    conditions = [{"type": "Ready", "status": "True"}, *more.get("conditions", ())]
    return {
        "metadata": {"name": name},
        "spec": {"taints": [{"key": TAINT, "effect": "NoSchedule"}] if taint else []},
        "status": {"nodeInfo": info, "allocatable": {"rdma/ib": offers}, "conditions": conditions},
    }


def measured(**change: Any) -> Any:
    """A measurement of the machine v2 with another one, a minute after the beginning of time."""
    usual = {
        "at": _MINUTE,
        "by": "light check",
        "verdict": "pass",
        "identity": {"vm": "v2", "boot": "b1"},
        "problems": [],
        "sound": {"rdma-write-bandwidth": _MINUTE},
    }
    return patched(usual, change)


def outcome_of_looks(case: Case) -> Any:
    """Looks at a pool, after those `before`, when its pods waited for a measurement: each has `now`, its nodes, the
    differences of a measurement, and states. The results of each that are not as usual.
    """
    known, shown = None, []
    earlier = _BEFORE[case.get("before", "a")]
    for number, look in enumerate([*earlier, *case["looks"]]):
        is_shown = number >= len(earlier)
        pool: Any = {**POOL, **(case.get("pool", {}) if is_shown else {})}
        nodes = [node_of(name, **change) for name, change in look["nodes"].items()]
        there = {node: [measured(**look["measured"])] for node in look["nodes"] if "measured" in look}
        states = (look.get("states", {}), there)
        seen = judge(pool, nodes, known, states, _SIGNS, taint=TAINT, now=look.get("now", 100))
        known = seen.known
        shown += [_told(seen)] if is_shown else []
    return shown


def _told(seen: Look) -> dict[str, Any]:
    nodes = {
        name: {key: value for key, value in one.items() if value and key not in ("vm", "boot")}
        for name, one in seen.known.items()
    }
    events = [{"node": each.node, "reason": each.reason, "message": each.message} for each in seen.told]
    told = {"known": nodes, "lift": seen.lift, "told": events, "run": seen.run}
    return {key: value for key, value in told.items() if value}


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {"watch": outcome_of_looks}
