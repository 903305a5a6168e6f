"""GPUs under load: which one is named of pools of any size, what NVML's words lead to, and healthy pools."""

from random import Random
from typing import Any

import pytest
from aks_infiniband.validation.payload.gpus.health import THROTTLED
from aks_infiniband.validation.payload.gpus.judge import judge_gpus
from aks_infiniband.validation.payload.gpus.load import Reading, summary
from aks_infiniband.validation.payload.say.steadiness import pointing, spread_of

from benchmark.gpus import GPUS, PLAN, gpu_of, named, pool_of

HEALTHY = {
    "pcie": {"generation": 5, "width": 16, "most_generation": 5, "most_width": 16},
    "memory": {"uncorrected": 0, "remapped": 0, "pending": False, "failed": False},
    "nvlinks": 18,
    "uuid": "GPU-1",
    "serial": "1",
}


def pool(nodes: int, **changes: Any) -> list[Any]:
    """A healthy pool but for what is changed of GPU 3 of the last node; `load` changes the load's fields."""
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
    assert unmeasured.keys() == {"gpu-throttling", "gpu-pcie", "gpu-memory", "gpu-nvlinks", "gpu-rate"}
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
    assert pointing(spread_of([100.0]), **words) == pointing(None, **words) == ""
