"""Time that is up in the middle of a step hides nothing that was seen before, and names no node for it."""

from collections.abc import Mapping
from typing import Any

import pytest
from aks_infiniband.validation.payload.collective import measuring as collective
from aks_infiniband.validation.payload.talk.time_left import Time
from aks_infiniband.validation.payload.tcp.judge import judge_networks
from aks_infiniband.validation.payload.tcp.measuring import measure as measure_networks

THRESHOLDS: Any = {}
NEEDED = 30.0
"""Longest duration of a step."""


class Clock:
    """Time that passes by steps alone."""

    def __init__(self, left: float) -> None:
        self.left = left

    @property
    def time(self) -> Time:
        return Time(lambda: self.left, lambda tool_seconds: NEEDED)


@pytest.mark.parametrize("left", [0.0, 5.0])
def test_networks_that_there_was_no_time_for_are_not_measured_and_fail_nobody(left: float) -> None:
    clock = Clock(left)

    def do(step: Any) -> Mapping[str, Any]:
        if "sockperf" in step:
            clock.left = 0
        return {}

    rows = measure_networks(do, ["n0", "n1"], ["net1", "eth0"], THRESHOLDS, tries=3, time=clock.time)
    checks = judge_networks(rows, THRESHOLDS)
    assert {check["verdict"] for check in checks} == {"not measured"}
    assert all("time was up" in str(check["cause"]) for check in checks)


class Leading:
    """Leads two nodes, of which the second does not answer in the step in which time is up."""

    def __init__(self, clock: Clock, steps: list[dict[str, Any]]) -> None:
        self._clock, self._steps = clock, steps
        self.members: Any = {"n0": {"address": "10.0.0.1"}, "n1": {"address": "10.0.0.2"}}
        self.replaced: dict[str, int] = {}

    @property
    def seconds_left(self) -> float:
        return self._clock.left

    def step(self, _step: Any) -> dict[str, Any]:
        self._clock.left -= 100
        return self._steps.pop(0)


def node_run(node: str, rank: int, failure: Any = None) -> dict[str, Any]:
    evidence: dict[str, Any] = {"network": None, "library": None, "devices": []}
    ranks = [{"rank": rank, "gpu": 0, "reached_bytes": 8, "wrong": 0, "failure": failure}]
    return {"node": node, "node_rank": rank, "sizes": [], "small": None, "stopped": None} | {
        "tuning": "ring",
        "seconds": 1.0,
        "ranks": ranks,
        "evidence": evidence,
    }


def test_a_try_of_the_all_reduce_that_time_cut_short_hides_no_earlier_one(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = {"reason": "ended with exit code 1", "own": True, "output": "Xid 79", "part": "cause"}
    of_gpu = {**broken, "cause": "the GPU failed", "peer": None}
    whole = {"n0": node_run("n0", 0), "n1": node_run("n1", 1, of_gpu)}
    monkeypatch.setattr(collective, "merged", lambda entries, **_: {"failures": [of_gpu], "nodes": len(entries)})
    monkeypatch.setattr(collective, "as_try", lambda *_: None)
    lead: Any = Leading(Clock(150), [whole, {"n0": node_run("n0", 0)}])
    plan: Any = {"ranks_per_node": 1, "seconds": 60, "line_gb_per_s": 1, "thresholds": {}}
    found: Any = collective.measure(lead, plan, tries=3)
    (run,) = found["runs"]
    assert run["nodes"] == 2
    assert len(run["tries"]) == 1
