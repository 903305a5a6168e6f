"""Nodes two by two: the partners, the node that is named, and the result of a pool of healthy nodes."""

from collections import Counter
from typing import Any

import pytest
from aks_infiniband.validation.payload.collective.nccl_log import read_log
from aks_infiniband.validation.payload.pairs.judge import PairFigure, judge_pairs
from aks_infiniband.validation.payload.pairs.measuring import figure_of, measure
from aks_infiniband.validation.payload.pairs.part import carry_out
from aks_infiniband.validation.payload.pairs.rounds import rounds_of
from aks_infiniband.validation.payload.say.lines import measured_text
from aks_infiniband.validation.payload.say.steadiness import spread_of

BOUND: Any = {"unit": "GB/s", "better": "higher", "warn": 300.0, "fail": 150.0, "basis": "quoted"}
PLAN: Any = {"bytes": 1 << 33, "seconds": 60, "rounds": 3, "threshold": BOUND}
HEALTHY = 370.0


def nodes_of(count: int) -> list[str]:
    return [f"n{number}" for number in range(count)]


def figures(count: int, lacks: dict[str, float] | None = None) -> list[PairFigure]:
    """Figures of a pool whose pairs have what the weaker node has, and 0.2 % more or less."""
    lacking = lacks or {}
    return [
        {
            "nodes": list(pair),
            "round": number,
            "value": HEALTHY * (1 - max(lacking.get(node, 0.0) for node in pair)) * (1 + 0.002 * (place % 3 - 1)),
            "error": None,
            "at_fault": [],
        }
        for number, pairs in enumerate(rounds_of(nodes_of(count), 3), start=1)
        for place, pair in enumerate(pairs)
    ]


def problems(found: list[PairFigure], count: int) -> list[tuple[str, str | None]]:
    checks = judge_pairs(found, PLAN, nodes_of(count))
    return [(check["verdict"], check["node"]) for check in checks if check["verdict"] != "pass"]


def test_nobody_has_two_partners_at_once_or_the_same_one_twice() -> None:
    for count in [2, 3, 4, 5, 16, 17, 100, 300]:
        rounds = rounds_of(nodes_of(count), 3)
        assert len(rounds) == min(3, count - 1 + count % 2)
        for pairs in rounds:
            assert max(Counter(node for pair in pairs for node in pair).values()) == 1
            assert len(pairs) == count // 2
        met = [frozenset(pair) for pairs in rounds for pair in pairs]
        assert len(met) == len(set(met))


@pytest.mark.parametrize("count", [3, 4, 5, 16, 100])
def test_a_node_8_percent_below_its_pool_is_named_and_none_of_its_partners(count: int) -> None:
    for node in (nodes_of(count)[0], nodes_of(count)[-1]):
        assert problems(figures(count, {node: 0.08}), count) == [("fail", node)]


def test_a_node_4_percent_below_its_pool_is_warned_of() -> None:
    assert problems(figures(16, {"n3": 0.04}), 16) == [("warn", "n3")]


@pytest.mark.parametrize("count", [3, 4, 16, 100, 300])
def test_healthy_pools_are_found_healthy(count: int) -> None:
    assert problems(figures(count), count) == []


def test_several_bad_nodes_are_all_named() -> None:
    bad = {"n1": 0.07, "n40": 0.10, "n41": 0.06, "n99": 0.35}
    assert {node for _, node in problems(figures(100, bad), 100)} == set(bad)


def test_a_pair_that_is_slow_though_both_nodes_are_good_is_congestion_and_names_neither_node() -> None:
    found = figures(16)
    found[3]["value"] = HEALTHY / 2
    (check,) = [check for check in judge_pairs(found, PLAN, nodes_of(16)) if check["verdict"] != "pass"]
    assert (check["verdict"], check["node"]) == ("warn", None)
    assert "congestion" in str(check["cause"])
    assert all(node in str(check["cause"]) for node in found[3]["nodes"])


def test_a_node_that_is_steadily_low_has_a_setting_and_one_that_varies_has_congestion_in_its_cause() -> None:
    steady = figures(16, {"n3": 0.2})
    varying = figures(16, {"n3": 0.2})
    next(one for one in varying if "n3" in one["nodes"])["value"] = HEALTHY * 0.4
    for made, word in ((steady, "a setting"), (varying, "congestion")):
        (check,) = [check for check in judge_pairs(made, PLAN, nodes_of(16)) if check["node"] == "n3"]
        assert word in str(check["cause"])


def test_a_node_whose_repetitions_differ_widely_has_congestion_in_its_cause_and_its_spread_beside_the_figure() -> None:
    found = figures(16, {"n3": 0.2})
    for figure in found:
        if "n3" in figure["nodes"]:
            figure["spread"] = spread_of([HEALTHY * 0.4, HEALTHY, HEALTHY])
    (check,) = [check for check in judge_pairs(found, PLAN, nodes_of(16)) if check["node"] == "n3"]
    assert "congestion" in str(check["cause"])
    assert "148 to 370 in 3 repetitions" in measured_text(check)


def test_a_pool_that_is_slow_as_a_whole_is_held_against_two_nodes_and_no_node_is_named() -> None:
    slow = figures(16, dict.fromkeys(nodes_of(16), 0.25))
    assert problems(slow, 16) == [("warn", None)]


def test_a_node_that_gives_no_figure_with_anybody_is_named() -> None:
    found = figures(16)
    for figure in found:
        if "n5" in figure["nodes"]:
            figure.update({"value": None, "error": "ended with exit code 1", "at_fault": figure["nodes"]})
    assert problems(found, 16) == [("fail", "n5")]


def test_one_pair_without_a_figure_is_not_measured_and_names_neither_node() -> None:
    found = figures(16)
    error = "still running at the time limit: stopped"
    found[0].update({"value": None, "error": error, "at_fault": found[0]["nodes"]})
    assert problems(found, 16) == [("not measured", None)]


def test_rounds_that_there_was_no_time_for_are_not_a_pass() -> None:
    assert problems(figures(16)[:8], 16) == [("not measured", None)]


def entry(node: str, value: float = 370.0) -> Any:
    sizes = [{"bytes": 8, "bus_gb_per_s": value}]
    return {
        "node": node,
        "node_rank": 0,
        "sizes": sizes,
        "small": None,
        "stopped": None,
        "seconds": 1.0,
        "evidence": read_log(""),
        "ranks": [],
    }


def test_a_silent_partner_is_named_in_the_error_of_its_pair() -> None:
    found = figure_of(("a", "b"), 1, {"a": entry("a"), "b": None}, 8)
    assert found["value"] is None
    assert str(found["error"]).startswith("b: ")


def failed(node: str, **failure: Any) -> Any:
    told = {"output": None, "peer": None, "own": True, **failure}
    rank = {"rank": 0, "gpu": 0, "reached_bytes": 8, "wrong": 0, "failure": told}
    return {**entry(node), "sizes": [], "ranks": [rank]}


FOLLOWED = {"reason": "ended with exit code 1", "part": "followed", "cause": "Connection reset by peer"}
KILLED = {"reason": "ended by signal SIGKILL", "part": "cause", "cause": "the process was killed"}
WAITED = {"reason": "ended with exit code 1", "part": "waited", "cause": "collective operation timeout"}
HANGING = {"reason": "still running at the time limit: stopped", "part": "stopped", "cause": "it said nothing"}


@pytest.mark.parametrize(
    ("partner", "culprit", "word"), [(FOLLOWED, KILLED, "was killed"), (WAITED, HANGING, "GPU hangs")]
)
def test_of_a_partner_that_dies_or_hangs_the_other_node_is_not_at_fault(
    partner: dict[str, str], culprit: dict[str, str], word: str
) -> None:
    pair = figure_of(("a", "b"), 1, {"a": failed("a", **partner), "b": failed("b", **culprit)}, 1)
    assert pair["at_fault"] == ["b"]
    assert str(pair["error"]).startswith(f"b: {culprit['reason']}: ")
    assert word in str(pair["error"])
    other: PairFigure = {"nodes": ["c", "d"], "round": 1, "value": 1.0, "error": None, "at_fault": []}
    plan: Any = {**PLAN, "rounds": 1}
    checks = judge_pairs([pair, other], plan, ["a", "c", "d", "b"])
    assert {(check["node"], check["verdict"]) for check in checks if check["node"]} == {
        ("a", "not measured"),
        ("b", "fail"),
    }


class Lead:
    """A leading pod whose pool answers well, and whose time is up after so many steps."""

    def __init__(self, count: int, steps: int) -> None:
        self.members: Any = {node: {} for node in nodes_of(count)}
        self.replaced: dict[str, int] = {}
        self.asked: list[Any] = []
        self._steps = steps

    @property
    def time_is_up(self) -> bool:
        return len(self.asked) >= self._steps

    def step(self, step: Any) -> Any:
        self.asked.append(step)
        return {node: entry(node) for pair in step["node_pairs"] for node in pair}


def test_a_pool_of_a_hundred_takes_three_steps_of_fifty_pairs_each_with_its_own_meeting_point() -> None:
    lead: Any = Lead(100, 10)
    found = measure(lead, {"ranks_per_node": 8, "sizes": [8, 16]}, PLAN)  # type: ignore[typeddict-item]
    assert [len(step["node_pairs"]) for step in lead.asked] == [50, 50, 50]
    assert all(len(step["meetings"]) == 50 for step in lead.asked)
    assert {tuple(step["plan"]["sizes"]) for step in lead.asked} == {(PLAN["bytes"],)}
    assert problems(found, 100) == []


def test_a_node_without_a_partner_waits_for_the_next_round(tmp_path: Any) -> None:
    step: Any = {"node_pairs": [("a", "b")], "meetings": [""], "plan": {}}
    assert carry_out(step, {"a": {}, "b": {}, "c": {}}, "c", folder=tmp_path, environment={}) is None
