"""Runs of the all-reduce, judged: the checks that passed, those that did not, their places, and why."""

from typing import Any

import pytest
from aks_infiniband.facts.baselines import GivenThreshold
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool
from aks_infiniband.validation.payload.collective import nccl_log
from aks_infiniband.validation.payload.collective.judge import as_try, falls_short, judge_collective
from aks_infiniband.validation.payload.say.lines import measured_text, shown_bytes
from aks_infiniband.validation.payload.say.steadiness import spread_of
from aks_infiniband.validation.pool_expectations import collective_expectations

from tests.unit.validation.collective_runs import EXPECTED, GIB, NODES, failure, judged, run


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


@pytest.mark.parametrize(("value", "verdict"), [(187.0, "pass"), (182.0, "warn"), (157.0, "fail")])
def test_bus_bandwidth_is_judged_at_the_size_of_its_threshold(value: float, verdict: str) -> None:
    sizes = [{"bytes": GIB, "bus_gb_per_s": 1.0}, {"bytes": 8 * GIB, "bus_gb_per_s": value}]
    (check,) = judged(run(sizes=sizes))["all-reduce"]
    assert check["verdict"] == verdict
    assert "8 GiB" in check["expected"]
    assert (check["measured"], check["unit"], check["threshold"]["source"]) == (value, "GB/s", "the guide")
    assert (check["cause"] is None) == (verdict == "pass")


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


@pytest.mark.field_report("C4b")
def test_only_the_ring_is_judged_and_not_what_nccl_chose_itself() -> None:
    own_choice = run("nccl", sizes=[{"bytes": 8 * GIB, "bus_gb_per_s": 1.0}])
    checks = judge_collective({"runs": [run(), own_choice]}, EXPECTED)
    assert [check["verdict"] for check in checks if check["check"] == "all-reduce"] == ["pass"]


def test_a_sweep_that_did_not_come_to_the_judged_size_is_not_measured_and_says_why() -> None:
    (check,) = judged(run(sizes=[{"bytes": GIB, "bus_gb_per_s": 187.0}], stopped="240 s were up"))["all-reduce"]
    assert (check["verdict"], check["cause"]) == ("not measured", "240 s were up")


@pytest.mark.field_report("C4")
def test_a_size_without_thresholds_is_measured_and_not_judged() -> None:
    none = {**EXPECTED, "thresholds": {"infiniband": None, "nvlink": None}, "small": None}
    checks = judged(run(), none)
    assert [check["verdict"] for check in checks["all-reduce"]] == ["not judged"]
    assert (checks["all-reduce"][0]["measured"], checks["all-reduce"][0]["unit"]) == (187.0, "GB/s")
    assert [check["verdict"] for check in checks["all-reduce-small"]] == ["not judged"]


@pytest.mark.field_report("C1")
def test_the_fall_back_to_sockets_is_called_by_its_name_on_the_node_where_it_is() -> None:
    transports = {"aks-a": nccl_log.INFINIBAND_DIRECT, "aks-b": nccl_log.SOCKETS}
    (check,) = judged(run(transports=transports, transport=nccl_log.SOCKETS))["collective-transport"]
    assert (check["verdict"], check["node"], check["measured"]) == ("fail", "aks-b", "TCP sockets")
    assert "RDMA resource" in str(check["cause"])


@pytest.mark.field_report("B3")
@pytest.mark.parametrize(
    ("dma_buf", "hcas", "cause"),
    [
        (False, False, "nvidia-peermem is not loaded on the node"),
        (False, False, "open kernel modules (driver.kernelModuleType) and Linux 5.12: set gpuDirect: nvidia-peermem"),
        (True, False, "the GPU offers DMA-BUF, and the HCAs do not take it"),
        (True, True, "set NCCL_NET_GDR_LEVEL=SYS"),
        (None, None, "nvidia-peermem is not loaded on the node"),
    ],
)
def test_gpu_direct_that_is_off_fails_however_fast_it_is_and_says_which_part_is_missing(
    dma_buf: bool | None, hcas: bool | None, cause: str
) -> None:
    off = nccl_log.INFINIBAND_STAGED
    said: dict[str, Any] = {"library": None, "gpu_direct": {}, "dma_buf": dma_buf, "hcas_direct": hcas}
    checks = judged(run(transports=dict.fromkeys(NODES, off), transport=off, evidence=said))["collective-transport"]
    assert [check["verdict"] for check in checks] == ["fail", "fail"]
    assert all(cause in str(check["cause"]) for check in checks)


@pytest.mark.field_report("B3")
@pytest.mark.parametrize(
    ("ways", "told"),
    [
        ({"DMA-BUF": 16}, "(DMA-BUF)"),
        ({"nvidia-peermem": 16}, "(nvidia-peermem)"),
        ({"nvidia-peermem": 8, "DMA-BUF": 8}, "(DMA-BUF and nvidia-peermem)"),
    ],
)
def test_either_way_of_gpu_direct_passes_and_is_told(ways: dict[str, int], told: str) -> None:
    (check,) = judged(run(evidence={"gpu_direct": ways}))["collective-transport"]
    assert check["verdict"] == "pass"
    assert check["measured"] == f"InfiniBand with GPUDirect RDMA {told}"


def test_slow_over_sockets_points_to_the_transport_and_not_to_the_topology() -> None:
    sizes = [{"bytes": 8 * GIB, "bus_gb_per_s": 3.1}]
    (check,) = judged(run(sizes=sizes, transport=nccl_log.SOCKETS))["all-reduce"]
    assert "collective-transport" in str(check["cause"])


@pytest.mark.field_report("C1", "C3")
def test_hcas_that_nccl_left_unused_are_a_failure_with_the_ones_it_used() -> None:
    devices = {"aks-a": [f"mlx5_ib{number}" for number in range(8)], "aks-b": ["mlx5_ib0", "mlx5_ib1"]}
    (check,) = judged(run(devices=devices))["collective-hcas"]
    assert (check["verdict"], check["node"], check["measured"]) == ("fail", "aks-b", "2: mlx5_ib0, mlx5_ib1")


def test_a_wrong_sum_names_node_and_gpu() -> None:
    wrong = [{"node": "aks-b", "gpu": 5, "elements": 12}]
    checks = [check for check in judged(run(wrong=wrong))["collective-sum"] if check["verdict"] == "fail"]
    assert [(check["node"], check["device"], check["measured"]) for check in checks] == [
        ("aks-b", "GPU 5", "12 wrong (ring)")
    ]


def test_one_node_alone_says_nothing_of_infiniband() -> None:
    alone: dict[str, Any] = {
        "nodes": ["aks-a"],
        "transports": {"aks-a": nccl_log.PEER_TO_PEER},
        "devices": {"aks-a": []},
    }
    checks = judged(run(**alone, transport=nccl_log.PEER_TO_PEER))
    assert [check["verdict"] for check in checks["collective-transport"]] == ["not measured"]
    assert [check["verdict"] for check in checks["all-reduce"]] == ["not judged"]


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
    ("count", "text"), [(8, "8 B"), (1 << 10, "1 KiB"), (64 << 20, "64 MiB"), (3 << 29, "1.5 GiB")]
)
def test_sizes_are_shown_as_people_write_them(count: int, text: str) -> None:
    assert shown_bytes(count) == text
