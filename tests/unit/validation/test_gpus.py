"""GPUs under load: which one is named of pools of any size, what NVML's words lead to, and healthy pools."""

import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
import yaml
from aks_infiniband.validation.payload.gpus.copies import Copies
from aks_infiniband.validation.payload.gpus.health import THROTTLED
from aks_infiniband.validation.payload.gpus.host_copies import LEAST_SHARE, LINKS
from aks_infiniband.validation.payload.gpus.judge import NAMES, judge_gpus
from aks_infiniband.validation.payload.gpus.load import Reading, summary
from aks_infiniband.validation.payload.gpus.one import OneGpu
from aks_infiniband.validation.payload.gpus.others import Watch, excused
from aks_infiniband.validation.payload.pairs import judge as pairs_judge
from aks_infiniband.validation.payload.say.checks import fails, make_check, passes
from aks_infiniband.validation.payload.say.spreads import HEALTHY as SPREADS
from aks_infiniband.validation.payload.say.spreads import certain
from aks_infiniband.validation.payload.say.steadiness import STEADY, Spread, is_steady, pointing, spread_of

from benchmark.gpus import GPUS, PLAN, gpu_of, named, pool_of

HEALTHY = {
    "pcie": {"generation": 5, "width": 16, "most_generation": 5, "most_width": 16},
    "memory": {"uncorrected": 0, "remapped": 0, "pending": False, "failed": False},
    "others": {"processes": 0, "mebibytes": 0, "busy": 0.0},
    "to_host": spread_of([55.1, 55.2]),
    "from_host": spread_of([55.1, 55.2]),
    "nvlinks": 18,
    "uuid": "GPU-1",
    "serial": "1",
}


def pool(nodes: int, **changes: Any) -> list[Any]:
    """A healthy pool except for the changes of GPU 3 of the last node; `load` changes the load's fields."""
    made: list[Any] = pool_of(Random(nodes), nodes, deviation=0.009)
    for one in made:
        for gpu in one["gpus"]:
            gpu.update({**HEALTHY, "load": {**gpu["load"], "sm_clock": spread_of([1365.0, 1380.0])}})
    sick = made[-1]["gpus"][3]
    sick["load"].update(changes.pop("load", {}))
    sick.update(changes)
    return made


def problems(found: list[Any], nodes: int) -> list[tuple[str, str, str | None, str | None]]:
    checks = judge_gpus([found], PLAN, [f"node-{node}" for node in range(nodes)])
    return [
        (check["check"], check["verdict"], check["node"], check["device"])
        for check in checks
        if check["verdict"] != "pass"
    ]


SIZES = pytest.mark.parametrize("nodes", [2, 4, 16, 100])


@SIZES
@pytest.mark.parametrize(
    ("check", "changes"),
    [
        ("gpu-throttling", {"load": {"reasons": {"hardware slowdown": 0.9, "hardware thermal slowdown": 0.9}}}),
        ("gpu-rate", {"load": {"rate": spread_of([460.0, 470.0, 480.0])}}),
        ("gpu-pcie", {"pcie": {"generation": 5, "width": 8, "most_generation": 5, "most_width": 16}}),
        ("gpu-pcie", {"pcie": {"generation": 5, "width": 8, "most_generation": 5, "most_width": 8}}),
        ("gpu-from-host", {"from_host": spread_of([27.5, 27.6])}),
        ("gpu-memory", {"memory": {"uncorrected": 0, "remapped": 1, "pending": True, "failed": False}}),
        ("gpu-nvlinks", {"nvlinks": 17}),
        ("gpu-load", {"problem": "RuntimeError: CUDA error: unspecified launch failure", "cause": "the GPU failed"}),
    ],
)
def test_one_bad_gpu_is_named_to_node_and_address_and_no_other(nodes: int, check: str, changes: dict[str, Any]) -> None:
    device = "GPU 3 at 0004:00:00.0"
    assert problems(pool(nodes, **changes), nodes) == [(check, "fail", f"node-{nodes - 1}", device)]


@SIZES
def test_seven_of_eight_gpus_name_the_address_of_the_one_that_is_not_there(nodes: int) -> None:
    found = pool(nodes)
    gone = found[-1]["gpus"][3]
    found[-1]["gpus"] = [gpu for gpu in found[-1]["gpus"] if gpu is not gone]
    absent = {**gpu_of(7, rate=1.0), "pci": None, "problem": "RuntimeError: CUDA error: invalid device ordinal"}
    for name in ("load", "to_host", "from_host", "to_peer"):
        absent.pop(name)
    found[-1]["gpus"].append(absent)
    assert problems(found, nodes) == [("gpu-count", "fail", f"node-{nodes - 1}", "GPU at 0004:00:00.0")]


@SIZES
def test_healthy_pools_with_the_fields_spread_are_found_healthy(nodes: int) -> None:
    """More of them are computed by `python -m benchmark.gpus`."""
    pools = 100 // nodes
    for deviation in (0.009, 0.034):
        assert named(Random(nodes), nodes, deviation=deviation, lacks=(), pools=pools) == (pools, 0)


def test_a_gpu_at_its_limit_of_power_is_healthy() -> None:
    assert problems(pool(2, load={"reasons": {"software power cap": 1.0}}), 2) == []


@pytest.mark.parametrize("reason", THROTTLED)
def test_a_reason_that_a_healthy_gpu_never_has_fails_if_it_is_often_there_and_else_warns(reason: str) -> None:
    for share, verdict in ((0.5, "fail"), (0.03, "warn")):
        assert [entry[:2] for entry in problems(pool(2, load={"reasons": {reason: share}}), 2)] == [
            ("gpu-throttling", verdict)
        ]


def test_clocks_that_are_set_low_are_told_of_one_gpu_and_not_of_a_whole_pool() -> None:
    low = {"reasons": {"applications clocks setting": 1.0}}
    assert [entry[:2] for entry in problems(pool(2, load=low), 2)] == [("gpu-throttling", "warn")]
    everywhere = pool(2)
    for one in everywhere:
        for gpu in one["gpus"]:
            gpu["load"].update(low)
    assert problems(everywhere, 2) == []


def test_the_cause_names_the_uuid_and_the_serial_number() -> None:
    checks = judge_gpus([pool(2, nvlinks=17)], PLAN, ["node-0", "node-1"])
    (check,) = [check for check in checks if check["verdict"] == "fail"]
    assert "(GPU-1, serial 1)" in str(check["cause"])


def test_a_slow_gpu_says_what_its_tries_were_and_what_nvml_read() -> None:
    slow = pool(4, load={"rate": spread_of([300.0, 310.0, 305.0])})
    checks = judge_gpus([slow, slow], PLAN, [f"node-{node}" for node in range(4)])
    (check,) = [check for check in checks if check["check"] == "gpu-rate"]
    assert [made["value"] for made in check["tries"] or []] == [305.0, 305.0]
    assert "steadily low" in str(check["cause"])
    assert "1372 MHz" in str(check["cause"])


def test_an_image_without_cublas_or_nvml_is_not_measured_with_the_reason_and_fails_nothing() -> None:
    found: Any = [
        {
            "node": f"node-{node}",
            "seconds": 3.0,
            "gpus": [
                {
                    **{name: value for name, value in gpu_of(number, rate=1.0).items() if name != "load"},
                    "said": ["NVML: libnvidia-ml.so.1: cannot open", "products: libcublas.so.13: cannot open"],
                }
                for number in range(GPUS)
            ],
        }
        for node in range(2)
    ]
    checks = judge_gpus([found], PLAN, ["node-0", "node-1"])
    unmeasured = {check["check"]: check for check in checks if check["verdict"] == "not measured"}
    told_by_nvml = {"gpu-throttling", "gpu-pcie", "gpu-memory", "gpu-nvlinks", "gpu-other-work"}
    assert unmeasured.keys() == {*told_by_nvml, "gpu-rate"}
    assert all(check["cause"] is None for check in unmeasured.values())
    assert "libcublas.so.13" in str(unmeasured["gpu-rate"]["measured"])


def test_a_node_that_does_not_answer_is_not_measured() -> None:
    assert problems(pool(2), 3) == [("gpu-rate", "not measured", "node-2", None)]


def test_a_summary_has_the_share_of_readings_with_each_reason() -> None:
    readings = [Reading(680.0 + n, 700.0, 1365, 2619, 60, ["software power cap"] if n else []) for n in range(10)]
    load = summary(readings, seconds=2.0, precision="bfloat16", limits=(700.0, 1980))
    assert load["reasons"] == {"software power cap": 0.9}
    assert (load["begin"], load["end"]) == (680.5, 688.5)


def test_a_wide_spread_points_at_what_comes_and_goes_and_a_narrow_one_at_a_setting() -> None:
    words = {"steady": "a setting", "wide": "congestion"}
    assert pointing(spread_of([100.0, 101.0]), **words).endswith("a setting")
    assert pointing(spread_of([100.0, 300.0]), **words).endswith("congestion")
    between = pointing(spread_of([100.0, 130.0]), **words)
    assert "not steady" in between
    assert "a setting" in between
    assert "congestion" in between
    assert pointing(spread_of([100.0]), **words) == pointing(None, **words) == ""


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
        assert [entry[:2] for entry in problems(pool(2, **{name: one}), 2)] in (
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


def test_a_gpu_whose_copies_are_low_and_not_steady_is_shown_and_not_judged() -> None:
    low = pool(2, from_host=spread_of([20.75, 29.37, 23.0, 23.1, 23.2, 21.0, 28.0, 23.1]))
    checks = judge_gpus([low], PLAN, ["node-0", "node-1"])
    (check,) = [check for check in checks if check["check"] == "gpu-from-host"]
    assert (check["verdict"], check["measured"]) == ("not judged", 23.1)
    assert "steadily" not in str(check["cause"])
    assert "ecreate" not in str(check["cause"])


def test_a_machine_whose_gpus_are_all_low_is_named_and_a_pool_whose_gpus_are_is_not() -> None:
    half = spread_of([27.5, 27.6])
    found = pool(2)
    for gpu in found[0]["gpus"]:
        gpu["to_host"] = half
    assert [entry[1:3] for entry in problems(found, 2)] == [("fail", "node-0")] * GPUS
    for gpu in found[1]["gpus"]:
        gpu["to_host"] = half
    assert problems(found, 2) == [("gpu-to-host", "warn", None, None)]


@pytest.mark.parametrize(
    "others",
    [
        {"processes": 1, "mebibytes": 1542, "busy": 0.0},
        {"processes": 0, "mebibytes": 518, "busy": None},
        {"processes": 0, "mebibytes": 0, "busy": 0.27},
    ],
)
def test_a_gpu_on_which_others_work_is_named_for_that_alone_and_no_cure_touches_its_machine(others: Any) -> None:
    slow = pool(
        2,
        others=others,
        from_host=spread_of([20.0, 20.1]),
        problem="RuntimeError: CUDA error: out of memory",
        load={"rate": spread_of([309.0, 310.0]), "reasons": {"software thermal slowdown": 1.0}},
    )
    checks = judge_gpus([slow], PLAN, ["node-0", "node-1"])
    assert [check["check"] for check in checks if check["verdict"] in ("warn", "fail")] == []
    (check,) = [check for check in checks if check["node"]]
    assert (check["check"], check["verdict"], check["device"]) == (
        "gpu-other-work",
        "not measured",
        "GPU 3 at 0004:00:00.0",
    )
    assert "recreate" not in str(check["cause"]).lower()


def test_what_the_nodes_did_together_is_held_against_no_node_whose_gpus_others_used() -> None:
    busy = pool(3, others={"processes": 1, "mebibytes": 1542, "busy": 0.9})
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
    assert excused(found, pool(3)) == found


class FakeNvml:
    """NVML's facts on a GPU, to be changed."""

    processes: int | None = 0
    mebibytes: int | None = 3
    busy: float | None = 0.0


def test_our_own_process_is_no_other_work_and_what_comes_beside_it_is() -> None:
    nvml = FakeNvml()
    watch = Watch(nvml)
    watch.before(lambda _: None)
    nvml.processes, nvml.mebibytes = 1, 530
    watch.opened()
    nvml.mebibytes = 1200
    watch.filled()
    watch.note()
    assert watch.found == {"processes": 0, "mebibytes": 3, "busy": 0.0}
    nvml.processes, nvml.mebibytes = 2, 2000
    watch.note()
    assert watch.found == {"processes": 1, "mebibytes": 803, "busy": 0.0}


def test_other_work_is_seen_by_its_memory_where_a_pod_is_shown_no_process() -> None:
    nvml = FakeNvml()
    nvml.mebibytes = 1542
    watch = Watch(nvml)
    watch.before(lambda _: None)
    watch.opened()
    nvml.mebibytes = 2500
    watch.filled()
    watch.note()
    assert watch.found == {"processes": 0, "mebibytes": 1542, "busy": 0.0}


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
