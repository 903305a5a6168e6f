"""Runs of the all-reduce, judged: what passed, what did not, where, and why."""

from collections.abc import Callable
from typing import Any

import pytest
from aks_infiniband.validation.payload import nccl_log
from aks_infiniband.validation.payload.collective_judge import as_try, falls_short, judge_collective
from aks_infiniband.validation.payload.rank_failures import (
    CAUSE,
    FOLLOWED,
    STOPPED,
    WAITED,
    explained,
    likely_cause,
)
from aks_infiniband.validation.payload.rendering import shown_bytes

GIB = 1 << 30
NODES = ["aks-a", "aks-b"]
BOUND = {
    "unit": "GB/s",
    "better": "higher",
    "message_bytes": 8 * GIB,
    "warn": 185.0,
    "fail": 180.0,
    "basis": "measured",
    "source": "the guide",
}
SMALL = {"unit": "s", "better": "lower", "message_bytes": 4 << 20, "warn": None, "fail": 0.006, "basis": "measured"}
EXPECTED: Any = {
    "hcas": 8,
    "transport": nccl_log.INFINIBAND_DIRECT,
    "thresholds": {"infiniband": BOUND, "nvlink": None},
    "small": {**SMALL, "source": "the guide"},
}

Runs = Callable[..., Any]


def run(tuning: str = "ring", **changes: Any) -> Any:
    """A run in which all went well."""
    devices = [f"mlx5_ib{number}" for number in range(8)]
    sizes = [{"bytes": size, "bus_gb_per_s": 187.0} for size in (GIB, 8 * GIB)]
    return {
        "tuning": tuning,
        "nodes": NODES,
        "ranks": 16,
        "ranks_per_node": 8,
        "transport": nccl_log.INFINIBAND_DIRECT,
        "transports": dict.fromkeys(NODES, nccl_log.INFINIBAND_DIRECT),
        "devices": dict.fromkeys(NODES, devices),
        "evidence": {"dma_buf": False},
        "sizes": sizes,
        "small": {"seconds": 0.0052},
        "stopped": None,
        "wrong": [],
        "failures": [],
        **changes,
    }


def judged(ring: Any, expected: Any = EXPECTED) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for check in judge_collective({"runs": [ring, run("nccl")]}, expected):
        found.setdefault(check["check"], []).append(check)
    return found


def failure(output: str | None = None, **changes: Any) -> Any:
    base = {"node": "aks-b", "gpu": 3, "rank": 11, "own": True, "reached_bytes": 8, "output": output}
    given = {**base, "reason": "ended with exit code 1", **changes}
    return {**given, **explained(given["reason"], own=given["own"], output=given["output"])}


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
def test_gpu_direct_that_is_off_fails_however_fast_it_is_and_names_peermem() -> None:
    off = nccl_log.INFINIBAND_STAGED
    checks = judged(run(transports=dict.fromkeys(NODES, off), transport=off))["collective-transport"]
    assert [check["verdict"] for check in checks] == ["fail", "fail"]
    assert all("nvidia-peermem" in str(check["cause"]) for check in checks)


@pytest.mark.field_report("B3")
@pytest.mark.parametrize(("dma_buf", "way"), [(True, "DMA-BUF"), (False, "nvidia-peermem")])
def test_either_way_of_gpu_direct_passes_and_is_told(dma_buf: bool, way: str) -> None:
    (check,) = judged(run(evidence={"dma_buf": dma_buf}))["collective-transport"]
    assert check["verdict"] == "pass"
    assert way in check["measured"]


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


def test_a_dead_rank_is_named_and_not_those_that_followed_it() -> None:
    # The others' words: NCCL 2.28.9 on four H200s, one rank killed (docs/measurements.md).
    gone = "NCCL 2.28.9\nncclRemoteError: A call failed possibly due to a network error or a remote process exiting"
    failures = [
        failure(f"remote process exited or there was a network error, {gone}", node="aks-a", gpu=0, rank=0),
        failure(None, reason="ended by signal SIGKILL"),
        failure(None, gpu=4, rank=12, own=False, reason="stopped, because rank 11 of the same node had failed"),
    ]
    checks = [check for check in judged(run(failures=failures, sizes=[]))["collective"] if check["verdict"] == "fail"]
    assert [(check["node"], check["device"]) for check in checks] == [("aks-b", "GPU 3")]
    assert "SIGKILL" in checks[0]["measured"]
    assert "killed" in checks[0]["cause"]


def test_where_all_only_waited_every_node_is_named_once() -> None:
    late = "still running at the time limit: stopped"
    failures = [failure(None, node=node, gpu=gpu, own=False, reason=late) for node in NODES for gpu in range(8)]
    checks = [check for check in judged(run(failures=failures, sizes=[]))["collective"] if check["verdict"] == "fail"]
    assert [(check["node"], check["device"]) for check in checks] == [
        (node, "GPU 0, 1, 2, 3, 4, 5, 6, 7") for node in NODES
    ]


@pytest.mark.parametrize(
    ("output", "word"),
    [
        ("ModuleNotFoundError: No module named 'torch'", "no PyTorch"),
        ("The server socket has failed to listen … errno: 98 - Address already in use", "port"),
        ("NCCL WARN Error while creating shared memory segment … No space left on device", "/dev/shm"),
        ("NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory", "IPC_LOCK"),
        ("torch.AcceleratorError: CUDA error: invalid device ordinal", "GPU is not there"),
        ("CUDA error: no kernel image is available for execution on the device", "no code for this GPU"),
        ("CUDA error: uncorrectable ECC error encountered", "xid"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 8.00 GiB", "free memory"),
        ("NET/IB : Got completion from peer with status=12 opcode=0 len=0 vendor err 129", "peer does not answer"),
        ("NCCL error in: NCCLUtils.cpp:93, invalid usage (run with NCCL_DEBUG=WARN for details)", "NCCL_*"),
    ],
)
def test_what_a_rank_says_last_leads_to_a_cause(output: str, word: str) -> None:
    cause = likely_cause("ended with exit code 1", output)
    assert cause is not None
    assert word in cause
    assert failure(output)["part"] == CAUSE


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        # NCCL 2.28.9 and PyTorch 2.11 on four H200s, one rank killed or missing (docs/measurements.md).
        ({"output": "nccl error, remote process exited or there was a network error, NCCL version 2.28.9"}, FOLLOWED),
        (
            {"output": "TCPStore.cpp:125 recvValue failed … Connection was likely closed. Did it crash?"},
            FOLLOWED,
        ),
        ({"output": "[PG ID 0 Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4, …"}, WAITED),
        ({"output": None, "own": False, "reason": "still running at the time limit: stopped"}, STOPPED),
        ({"output": "RuntimeError: something else"}, CAUSE),
    ],
)
def test_who_only_followed_another_is_told_from_who_has_a_cause_of_its_own(changes: dict[str, Any], part: str) -> None:
    assert failure(**changes)["part"] == part


def test_a_rank_that_had_to_be_ended_while_all_others_waited_is_the_one_that_hangs() -> None:
    waiting = "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4, OpType=ALLREDUCE"
    failures = [failure(waiting, node="aks-a", gpu=gpu) for gpu in range(8)]
    failures.append(failure(None, own=False, reason="stopped, because rank 8 of the same node had failed"))
    checks = [check for check in judged(run(failures=failures))["collective"] if check["verdict"] == "fail"]
    assert [(check["node"], check["device"]) for check in checks] == [("aks-b", "GPU 3")]
    assert "no longer answers" in checks[0]["cause"]


def test_a_rank_that_says_something_unknown_is_quoted() -> None:
    failures = [failure("Traceback …\nRuntimeError: the moon is in the way")]
    checks = [check for check in judged(run(failures=failures))["collective"] if check["verdict"] == "fail"]
    assert checks[0]["cause"] == "its last words: RuntimeError: the moon is in the way"


@pytest.mark.parametrize(
    ("count", "text"), [(8, "8 B"), (1 << 10, "1 KiB"), (64 << 20, "64 MiB"), (3 << 29, "1.5 GiB")]
)
def test_sizes_are_shown_as_people_write_them(count: int, text: str) -> None:
    assert shown_bytes(count) == text
