"""The words of the light check on nodes: states, conditions and Events."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from aks_infiniband.validation.payload.light_check.state import (
    Seen,
    condition_of,
    event_of,
    kept_in,
    state_of,
    with_held,
)
from aks_infiniband.validation.payload.look.identity import UNKNOWN
from aks_infiniband.validation.payload.report.standing import LIGHT_CHECK, held_in
from aks_infiniband.validation.payload.say.checks import fails, passes

from tests.cases import Case, patched

DOWN: Final = fails("hca-state", "ACTIVE", "DOWN", "the link", node="n0", device="mlx5_0")
BETWEEN: Final = passes("rdma-write-bandwidth", ">= 380 Gb/s", "390 Gb/s")
SLOW: Final = {
    "check": "rdma-write-bandwidth",
    "verdict": "fail",
    "device": "mlx5_3",
    "expected": ">= 380 Gb/s",
    "measured": "314 Gb/s",
    "cause": None,
}
_HOT: Final = {**SLOW, "check": "gpu-rate", "device": "GPU 3", "expected": "680", "measured": "309"}
_NAMED: Final[Mapping[str, Any]] = {"down": DOWN, "between": BETWEEN, "slow": SLOW, "hot": _HOT}
"""Checks by the words that cases have for them."""
_LATER: Final = datetime(2026, 11, 23, tzinfo=UTC).timestamp()
NODE: Final[dict[str, Any]] = {"metadata": {"name": "n0", "uid": "uid-0"}, "status": {"conditions": []}}


def state(*checks: Any, now: float = 0, bandwidth: Any = None, before: Any = None) -> Any:
    """The state of a node with one HCA after a check of it."""
    at = datetime.fromtimestamp(now, UTC).isoformat()
    facts: Any = {"hcas": [{"device": "mlx5_0", "state": "ACTIVE", "rate_gbps": 400.0}]}
    seen = Seen(facts, {}, {}, bandwidth or {}, {**UNKNOWN, "vm": "vm-1", "boot": "boot-1"})
    return state_of("n0", seen, checks, {"at": at, "by": LIGHT_CHECK, "pool": "nd"}, before)


def record(*problems: Any, decisions: Any = ("cordoned",), vm: str = "vm-1") -> str:
    """The record of a machine that `validate --cordon` has measured."""
    one = {
        "at": "2026-11-22T10:00:00+00:00",
        "by": "validate",
        "verdict": "fail",
        "identity": {"vm": vm},
        "problems": list(problems),
        "sound": {},
        "values": [],
    }
    decided = [{"at": "t", "by": "validate --cordon", "what": what, "why": ""} for what in decisions]
    return json.dumps({"schema_version": 1, "machines": {"n0": {"measurements": [one], "decisions": decided}}})


def outcome_of_state(case: Case) -> dict[str, Any]:
    """A check of node n0 on the day after it was cordoned: `checks` by their words, or with differences from the port
    that is down; the check `before` it. `record` is a text, or has the problems of a command's measurement, its
    decisions and machine; `said` is the status of the node's condition, `whole` adds the measurement. The words on it.
    """
    made = _made(case, _LATER, _made(case["before"], 0, None) if "before" in case else None)
    condition = {"type": "InfiniBandHealthy", "status": case.get("said"), "lastTransitionTime": "2026-11-01T00:00:00Z"}
    condition |= {"reason": "FellShort", "message": "slow"} if "record" in case else {}
    ready = {"type": "Ready", "status": "True"}
    node: Any = patched(NODE, {"status": {"conditions": [ready, condition]}} if "said" in case else {})
    if "record" in case:
        text = case["record"]
        if isinstance(text, Mapping):
            text = record(
                *map(_named, text["problems"]), **{key: text[key] for key in ("decisions", "vm") if key in text}
            )
        held = held_in(text, {"n0": made["measurement"]})
        made = with_held(made, kept_in(node) if held is None else held.get("n0", ()))
    after, event = condition_of(node, made), event_of(node, made)
    changed = {key: after[key] for key in ("status", "lastTransitionTime", "lastHeartbeatTime")}
    told = {"healthy": made["healthy"], "reason": made["reason"], "message": made["message"], "condition": changed}
    told |= {"measurement": made["measurement"]} if case.get("whole") else {}
    place = {"uid": event["involvedObject"]["uid"], "namespace": event["metadata"]["namespace"]} if event else {}
    return {**told, "event": {"reason": event["reason"], **place} if event else None}


def _made(case: Case, now: float, before: Any) -> Any:
    checks = [_named(each) for each in case.get("checks", ())]
    return state(*checks, now=case.get("now", now), bandwidth=case.get("bandwidth"), before=before)


def _named(check: Any) -> Any:
    return _NAMED[check] if isinstance(check, str) else {**DOWN, **check}


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {"state": outcome_of_state}
