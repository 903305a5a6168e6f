"""Runs of the all-reduce, judged: the checks that passed, those that did not, their places, and why."""

from typing import Any

import pytest
from aks_infiniband.facts.baselines import GivenThreshold
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool
from aks_infiniband.validation.payload.collective.failures import explained
from aks_infiniband.validation.payload.collective.judge import as_try, falls_short, judge_collective
from aks_infiniband.validation.payload.collective.results import merged, node_entry
from aks_infiniband.validation.payload.programs.endings import CAUSES, SILENT_NODE
from aks_infiniband.validation.payload.say.lines import measured_text
from aks_infiniband.validation.payload.say.steadiness import spread_of
from aks_infiniband.validation.pool_expectations import collective_expectations

from tests.unit.validation.collective_runs import ADDRESSES, EXPECTED, GIB, NODES, failure, judged, run


def test_a_healthy_pool_passes_every_check() -> None:
    checks = judged(run())
    assert {check["verdict"] for all_of_it in checks.values() for check in all_of_it} == {"pass"}
    assert set(checks) == {
        "collective",
        "collective-sum",
        "collective-transport",
        "collective-hcas",
        "all-reduce",
        "all-reduce-small",
    }


@pytest.mark.parametrize(
    ("value", "repetitions", "verdict", "word"),
    [
        (187.0, [186.0, 188.0], "pass", None),
        (187.0, [90.0, 190.0, 190.0], "warn", "congestion"),
        (157.0, [156.0, 158.0], "fail", "a setting or a part"),
        (157.0, [70.0, 190.0, 190.0], "fail", "congestion"),
    ],
)
def test_the_spread_of_repetitions_stands_beside_the_bandwidth_and_says_what_to_look_at(
    value: float, repetitions: list[float], verdict: str, word: str | None
) -> None:
    sizes = [{"bytes": 8 * GIB, "bus_gb_per_s": value, "spread": spread_of(repetitions)}]
    (check,) = judged(run(sizes=sizes))["all-reduce"]
    assert check["verdict"] == verdict
    assert f"({min(repetitions):g} to {max(repetitions):g} in {len(repetitions)} repetitions" in measured_text(check)
    assert check["cause"] is None if word is None else word in check["cause"]


@pytest.mark.field_report("R13")
@pytest.mark.parametrize(("floor", "verdict"), [(None, "warn"), (300.0, "fail")])
def test_the_untuned_run_on_h100_that_was_published_warns_and_fails_at_the_floor_of_a_tuned_one(
    floor: float | None, verdict: str
) -> None:
    given = {} if floor is None else {"all-reduce": GivenThreshold(warn=None, fail=floor)}
    h100 = Pool(
        name="nd",
        size=SIZES["Standard_ND96isr_H100_v5"],
        node_count=2,
        node_selector={},
        mode="rdma-shared",
        nic_driver="doca-ofed",
        gpu_driver="operator",
    )
    untuned = run(sizes=[{"bytes": 16 * GIB, "bus_gb_per_s": 157.29}])
    assert [check["verdict"] for check in judged(untuned, collective_expectations(h100, given))["all-reduce"]] == [
        verdict
    ]


@pytest.mark.field_report("C6b")
@pytest.mark.parametrize(
    ("changes", "again"),
    [
        ({}, False),
        ({"sizes": [{"bytes": 8 * GIB, "bus_gb_per_s": 170.0}]}, True),
        ({"sizes": [{"bytes": 8 * GIB, "bus_gb_per_s": 182.0}]}, False),
        ({"failures": [{**failure("x"), "node": "aks-a"}]}, True),
    ],
)
def test_a_run_that_fails_is_made_again_and_one_that_warns_is_not(changes: dict[str, Any], again: bool) -> None:
    assert falls_short(run(**changes), EXPECTED) is again


def test_every_try_is_told_with_the_figure_that_is_judged() -> None:
    tries = [as_try(run(sizes=[{"bytes": 8 * GIB, "bus_gb_per_s": 170.04}]), EXPECTED), as_try(run(), EXPECTED)]
    assert tries == [{"value": 170.0, "error": None}, {"value": 187.0, "error": None}]
    (check,) = judged(run(tries=tries))["all-reduce"]
    assert check["tries"] == tries


def test_a_run_that_nobody_made_is_not_measured() -> None:
    verdicts = {check["check"]: check["verdict"] for check in judge_collective({"runs": []}, EXPECTED)}
    assert verdicts == dict.fromkeys(["collective-transport", "all-reduce", "collective-sum"], "not measured")


@pytest.mark.parametrize(
    ("replaced", "measured", "cause"),
    [
        ({}, SILENT_NODE, CAUSES["silent"]),
        ({"aks-b": 3}, "ended in the middle of it, 3 times", "OOMKilled, exit code 137"),
    ],
    ids=["nothing came back", "its pods end again and again"],
)
def test_a_node_that_is_silent_is_named_and_not_those_that_saw_it_go(
    replaced: dict[str, int], measured: str, cause: str
) -> None:
    seen: Any = {"rank": 0, "gpu": 0, "reached_bytes": 8, "wrong": 0}
    told = explained("ended with exit code 1", own=True, output="Connection closed by remote peer")
    ranks: Any = [{**seen, "failure": told}]
    entry = node_entry("aks-a", 0, "ring", ranks=ranks, logs=[""], seconds=9.0)
    addresses = {node: address for address, node in ADDRESSES.items() if node in NODES}
    ended = merged([entry], tuning="ring", ranks_per_node=1, addresses=addresses, replaced=replaced)
    checks = judged({**run(), "failures": ended["failures"]})["collective"]
    (check,) = [check for check in checks if check["verdict"] == "fail"]
    assert check["node"] == "aks-b"
    assert measured in str(check["measured"])
    assert cause in str(check["cause"])
