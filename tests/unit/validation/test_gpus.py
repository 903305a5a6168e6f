"""GPUs under load: healthy pools, recorded copies, turns; tests/unit/validation/cases/gpus.yaml has the bad ones."""

import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
import yaml
from aks_infiniband.validation.payload.gpus.copies import Copies
from aks_infiniband.validation.payload.gpus.host_copies import LEAST_SHARE, LINKS
from aks_infiniband.validation.payload.gpus.judge import NAMES, judge_gpus
from aks_infiniband.validation.payload.gpus.one import OneGpu
from aks_infiniband.validation.payload.gpus.others import excused
from aks_infiniband.validation.payload.pairs import judge as pairs_judge
from aks_infiniband.validation.payload.say.checks import fails, make_check, passes
from aks_infiniband.validation.payload.say.spreads import HEALTHY as SPREADS
from aks_infiniband.validation.payload.say.spreads import certain
from aks_infiniband.validation.payload.say.steadiness import STEADY, Spread, is_steady, pointing

from benchmark.gpus import PLAN, named
from tests.unit.validation.cases.loading import gpus_of


def problems(found: list[Any], nodes: int) -> list[tuple[str, str, str | None, str | None]]:
    checks = judge_gpus([found], PLAN, [f"node-{node}" for node in range(nodes)])
    return [
        (check["check"], check["verdict"], check["node"], check["device"])
        for check in checks
        if check["verdict"] != "pass"
    ]


@pytest.mark.parametrize("nodes", [2, 4, 16, 100])
def test_healthy_pools_with_the_fields_spread_are_found_healthy(nodes: int) -> None:
    """More of them are computed by `python -m benchmark.gpus`."""
    pools = 100 // nodes
    for deviation in (0.009, 0.034):
        assert named(Random(nodes), nodes, deviation=deviation, lacks=(), pools=pools) == (pools, 0)


RECORDED = yaml.safe_load(Path("benchmark/results/gpus.yaml").read_text(encoding="utf-8"))


def series() -> Iterator[tuple[str, Spread]]:
    """Every recorded series of copies with a record of its repetitions' spread."""
    for host in RECORDED["copies"]:
        for name in ("to_host", "from_host"):
            for middle, deviation in (one for one in host.get(name, []) if len(one) > 1):
                off = middle * deviation / 100
                ends = (round(middle - off, 2), round(middle + off, 2))
                yield (
                    name,
                    {"median": middle, "least": ends[0], "most": ends[1], "deviation": deviation / 100, "count": 8},
                )


def test_no_recorded_healthy_gpu_is_named_for_its_copies() -> None:
    found = list(series())
    assert len(found) > 340
    for name, one in found:
        assert [entry[:2] for entry in problems(gpus_of(2, **{name: one}), 2)] in (
            [],
            [(f"gpu-{name.replace('_', '-')}", "not judged")],
        ), one


def test_steady_is_said_of_no_recorded_series_that_shares_its_host() -> None:
    unsteady = [one for _, one in series() if one["deviation"] > 0.1]
    assert [one["median"] for one in unsteady] == [34, 27, 23.1]
    words = {"steady": "a part", "wide": "other work"}
    assert not any("steadily" in pointing(one, **words) for one in unsteady)
    windows = [most / 100 for row in RECORDED["rates"] for most in row.get("windows", ())]
    assert max(windows) <= STEADY < min(one["deviation"] for one in unsteady)


@pytest.mark.parametrize(("generation", "has"), [(4, 26.0), (5, 55.2)])
def test_half_of_the_lanes_is_below_the_limit_of_copies_and_what_azure_asks_is_above_it(
    generation: int, has: float
) -> None:
    asked = LINKS[generation]
    assert has / 2 < LEAST_SHARE * asked < 44 / 48 * asked < has


def test_what_the_nodes_did_together_is_held_against_no_node_whose_gpus_others_used() -> None:
    busy = gpus_of(3, others={"processes": 1, "mebibytes": 1542, "busy": 0.9})
    found = [
        fails("all-reduce-pairs", "a", "b", "slow", node="node-2"),
        fails("all-reduce-pairs", "a", "b", "slow", node="node-1"),
        fails("all-reduce", "a", "b", "slow"),
        fails("rdma-write-bandwidth", "a", "b", "slow", node="node-2"),
        passes("all-reduce-small", "a"),
    ]
    assert [check["verdict"] for check in excused(found, busy)] == [
        "not measured",
        "fail",
        "not measured",
        "fail",
        "pass",
    ]
    assert excused(found, gpus_of(3)) == found


class FakeCopies:
    """Copies that say when more than one GPU makes them."""

    busy = threading.Lock()

    def __init__(self, middle: float) -> None:
        self.middle = middle
        self.met = False

    def with_host(self, _: Any) -> tuple[list[float], list[float]]:
        self.met = not FakeCopies.busy.acquire(blocking=False) or self.met
        threading.Event().wait(0.02)
        if FakeCopies.busy.locked() and not self.met:
            FakeCopies.busy.release()
        return [self.middle] * 2, [self.middle] * 2


def test_one_gpu_of_a_node_copies_at_a_time_and_the_better_of_two_turns_counts(tmp_path: Path) -> None:
    gpus = [OneGpu(number, count=4, folder=tmp_path) for number in range(4)]
    turns = [{number: FakeCopies(50.0 - number + turn) for number in range(4)} for turn in range(2)]
    for part, copies in zip(("host", "again"), turns, strict=True):
        made = [
            threading.Thread(target=one._copy, args=(cast("Copies", copies[number]), part))
            for number, one in enumerate(gpus)
        ]
        for thread in made[::-1]:
            thread.start()
        for thread in made:
            thread.join(10)
    assert not any(copies.met for turn in turns for copies in turn.values())
    assert [one.found["from_host"]["median"] for one in gpus] == [51.0, 50.0, 49.0, 48.0]


def test_recorded_products_are_steady() -> None:
    assert is_steady({"median": 686.0, "least": 640.0, "most": 715.0, "deviation": 0.0405, "count": 10})


def test_every_check_that_holds_machines_against_others_says_what_is_recorded_and_warns_at_most_without() -> None:
    assert SPREADS.keys() == {*NAMES, pairs_judge.CHECK}
    low = make_check("gpu-rate", "fail", expected="more", measured=300.0)
    broken = make_check("gpu-rate", "fail", expected="a figure", measured="an error")
    absent = fails("gpu-count", 8, 7, "gone")
    assert certain([low, broken, absent]) == [low, broken, absent]
    assert certain([low, broken, absent], {}) == [{**low, "verdict": "warn"}, broken, absent]
    unheard = make_check("gpu-of-tomorrow", "fail", expected="more", measured=0.5)
    limit: Any = {"unit": "GB/s", "better": "more", "warn": None, "fail": 1.0}
    assert certain([unheard, {**unheard, "threshold": limit}]) == [
        {**unheard, "verdict": "warn"},
        {**unheard, "threshold": limit},
    ]
