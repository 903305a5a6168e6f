"""Time that is up in the middle of a step hides nothing that was seen before, and names no node for it."""

from collections.abc import Mapping
from typing import Any

import pytest
from aks_infiniband.validation.payload.collective import measuring as collective
from aks_infiniband.validation.payload.look.counters import judge_counters
from aks_infiniband.validation.payload.rdma.judge import judge_coverage, judge_rdma
from aks_infiniband.validation.payload.rdma.measuring import measure
from aks_infiniband.validation.payload.talk.time_left import Time
from aks_infiniband.validation.payload.tcp.judge import judge_networks
from aks_infiniband.validation.payload.tcp.measuring import measure as measure_networks

from tests.unit.validation.fabric import Fabric

DROPPED = ("ib_write_bw did not end within 10 s and was killed", ["SYN_SENT"])
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


def never_answered(clock: Clock, fabric: Fabric, silent_in: int) -> Any:
    """Steps of which each connection is dropped; from one on the second node does not have time left to say
    anything.
    """
    steps: list[Any] = []

    def do(step: Any) -> Mapping[str, Any]:
        steps.append(step)
        clock.left -= 20
        found: dict[str, Any] = {
            node: [{**answer, "values": None, "error": DROPPED[0], "sockets": DROPPED[1]} for answer in answers]
            for node, answers in fabric.do(step).items()
        }
        if len(steps) >= silent_in:
            del found["n1"]
        return found

    return do


def failed(checks: Any) -> set[tuple[Any, Any]]:
    return {(check["node"], check["device"]) for check in checks if check["verdict"] == "fail"}


def test_a_peer_that_had_no_time_to_answer_does_not_hide_that_the_pod_network_drops_connections() -> None:
    fabric, clock = Fabric(2, 1), Clock(90)  # four kinds, and 10 s for a second try
    measured = measure(never_answered(clock, fabric, 5), fabric.rails, THRESHOLDS, tries=3, time=clock.time)
    checks = judge_rdma(measured, THRESHOLDS, {})
    assert failed(checks) == {(None, None)}
    assert all("pod network" in str(check["cause"]) for check in checks if check["verdict"] == "fail")
    assert not any("did not answer" in str(check["cause"]) for check in checks)


def test_a_peer_that_had_all_the_time_of_a_step_and_says_nothing_is_named() -> None:
    fabric, clock = Fabric(2, 1), Clock(40)

    def do(step: Any) -> Mapping[str, Any]:
        clock.left = 0
        return {"n0": fabric.do(step)["n0"]}

    measured = measure(do, fabric.rails, THRESHOLDS, tries=3, time=clock.time)
    assert ("n1", "ib0") in failed(judge_rdma(measured, THRESHOLDS, {}))


def test_where_nothing_was_seen_before_nobody_is_named_and_the_cause_is_time() -> None:
    fabric, clock = Fabric(2, 1), Clock(10)

    def do(step: Any) -> Mapping[str, Any]:
        clock.left = 0
        return {"n0": fabric.do(step)["n0"]}

    measured = measure(do, fabric.rails, THRESHOLDS, tries=3, time=clock.time)
    checks = judge_rdma(measured, THRESHOLDS, {})
    assert failed(checks) == set()
    assert [check["verdict"] for check in checks if "time was up" in str(check["cause"])]
    assert {check["verdict"] for check in checks} <= {"not measured", "not judged"}


def test_rails_that_there_was_no_time_for_are_named_and_their_ports_are_not_suspected() -> None:
    fabric, clock = Fabric(2, 2), Clock(30)
    clock_of = fabric.do

    def do(step: Any) -> Mapping[str, Any]:
        clock.left -= 15
        return clock_of(step)

    measured = measure(do, fabric.rails, THRESHOLDS, tries=3, time=clock.time)
    checks = judge_rdma(measured, THRESHOLDS, {})
    (late,) = [c for c in checks if c["check"] == "rdma-read-latency" and c["verdict"] == "not measured"]
    assert "n0 (ib1)" in str(late["cause"])
    facts: Any = {node: {"hcas": [{"device": "ib0"}, {"device": "ib1"}]} for node in fabric.nodes}
    coverage = judge_coverage(measured, facts)
    assert coverage["verdict"] == "not measured"
    assert "time was up" in str(coverage["cause"])


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


def test_counters_that_there_was_no_time_to_read_again_do_not_say_that_they_are_not_mounted() -> None:
    (check,) = judge_counters({"n0": {}}, "enforce", ["n0"])
    assert "time was up" in str(check["cause"])


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
