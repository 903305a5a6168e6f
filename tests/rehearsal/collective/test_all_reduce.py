"""The collective payload as pods run it, one real process per GPU, over the simulated machines' libraries."""

import importlib
import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.rehearsal.collective.conftest import Machines

MIB, GIB = 1 << 20, 1 << 30
DIRECT = "InfiniBand with GPUDirect RDMA"


def bandwidth(run: dict[str, Any]) -> float:
    return float(run["sizes"][-1]["bus_gb_per_s"])


def test_two_healthy_machines_add_up_over_infiniband_at_the_promised_rate(machines: Machines) -> None:
    machines.make(gpus=8)
    run = machines.all_reduce([8, MIB, 16 * GIB], gpus=8)
    assert run["failures"] == []
    assert run["wrong"] == []
    assert run["transport"] == DIRECT
    every = [f"mlx5_{number}" for number in range(8)]
    assert run["devices"] == dict.fromkeys(machines.names, every)
    assert [size["bytes"] for size in run["sizes"]] == [8, MIB, 16 * GIB]
    assert 360 < bandwidth(run) < 400
    assert run["small"]["seconds"] < 0.006
    assert (run["ranks"], run["evidence"]["nodes"]) == (16, 2)


def test_congestion_that_comes_and_goes_shows_in_the_spread_of_repetitions(machines: Machines) -> None:
    machines.fault({"fault": "congestion", "node": "aks-p-1", "factor": 0.4})
    machines.make(gpus=1)
    spread = machines.all_reduce([GIB], gpus=1)["sizes"][-1]["spread"]
    assert spread["most"] / spread["least"] == pytest.approx(2.5, rel=0.05)


@pytest.mark.field_report("C9", "R6")
def test_a_pod_that_sees_the_ethernet_device_too_does_not_use_it_whatever_its_name(machines: Machines) -> None:
    machines.fault({"fault": "ethernet", "place": 3, "node": "aks-p-1"})
    machines.make(gpus=2, ethernet=True)
    run = machines.all_reduce([MIB], gpus=2)
    assert run["failures"] == []
    assert run["devices"] == {
        "aks-p-0": [f"mlx5_{number}" for number in range(8)],
        "aks-p-1": [f"mlx5_{number}" for number in (0, 1, 2, 4, 5, 6, 7, 8)],
    }
    assert set(run["evidence"]["devices"].values()) == {"IB"}


def test_nccls_own_choice_is_measured_beside_and_may_look_faster(machines: Machines) -> None:
    machines.make(gpus=2)
    ring, own = (machines.all_reduce([GIB], tuning=tuning) for tuning in ("ring", "nccl"))
    assert bandwidth(own) > bandwidth(ring)


@pytest.mark.field_report("C1")
def test_sockets_are_called_sockets(machines: Machines) -> None:
    machines.fault({"fault": "no-libibverbs"})
    machines.make(gpus=2)
    run = machines.all_reduce([GIB])
    assert set(run["transports"].values()) == {"TCP sockets"}
    assert bandwidth(run) < 4
    assert run["failures"] == []


@pytest.mark.field_report("B3")
@pytest.mark.parametrize(
    ("closed", "peermem", "way"),
    [
        ((), False, {"DMA-BUF": 4}),
        ((), True, {"DMA-BUF": 4}),
        (("aks-p-0", "aks-p-1"), True, {"nvidia-peermem": 4}),
        (("aks-p-1",), True, {"DMA-BUF": 2, "nvidia-peermem": 2}),
    ],
)
def test_gpus_are_reached_by_dma_buf_where_their_modules_are_open_and_else_by_peermem(
    machines: Machines, closed: tuple[str, ...], peermem: bool, way: dict[str, int]
) -> None:
    machines.fault(*({"fault": "closed-kernel-modules", "node": node} for node in closed))
    machines.make(gpus=2, modules=("nvidia", "nvidia_peermem") if peermem else ("nvidia",))
    run = machines.all_reduce([MIB])
    assert run["transport"] == DIRECT
    assert run["evidence"]["gpu_direct"] == way


@pytest.mark.field_report("B3")
def test_with_closed_modules_and_without_peermem_infiniband_goes_through_host_memory(machines: Machines) -> None:
    machines.fault({"fault": "closed-kernel-modules"})
    machines.make(gpus=2, modules=("nvidia",))
    run = machines.all_reduce([GIB])
    assert run["transport"] == "InfiniBand through host memory, without GPUDirect RDMA"
    assert (run["evidence"]["gpu_direct"], run["evidence"]["dma_buf"]) == ({}, False)
    assert bandwidth(run) < 20


def test_one_hca_at_half_its_rate_halves_the_ring(machines: Machines) -> None:
    machines.fault({"fault": "half-rate", "node": "aks-p-1", "device": "mlx5_3"})
    machines.make(gpus=2)
    assert 180 < bandwidth(machines.all_reduce([8 * GIB])) < 200


@pytest.mark.field_report("A2")
def test_different_partitions_end_in_an_error_that_leads_to_them(machines: Machines) -> None:
    machines.fault({"fault": "partition", "node": "aks-p-1"})
    machines.make(gpus=2)
    run = machines.all_reduce([GIB])
    causes = {(check["node"], check["cause"].partition(":")[0]) for check in blamed(run)}
    assert causes == {("aks-p-0", "it does not reach aks-p-1"), ("aks-p-1", "it does not reach aks-p-0")}


def test_of_three_the_one_that_nobody_reaches_is_named(machines: Machines) -> None:
    machines = replace(machines, names=("aks-p-0", "aks-p-1", "aks-p-2"))
    machines.fault({"fault": "packets-lost", "node": "aks-p-1", "device": "mlx5_3"})
    machines.make(gpus=1)
    run = machines.all_reduce([GIB], gpus=1)
    (check,) = blamed(run)
    assert (check["node"], check["device"]) == ("aks-p-1", "GPU 0")
    assert "it and aks-p-0 and aks-p-2 do not reach each other: packets do not arrive" in check["cause"]


def test_a_gpu_that_is_missing_is_named_and_the_others_do_not_wait_for_ever(machines: Machines) -> None:
    machines.make(gpus=1)
    started = time.monotonic()
    run = machines.all_reduce([GIB], gpus=2)
    own = [failure for failure in run["failures"] if "invalid device ordinal" in (failure["output"] or "")]
    assert [(failure["node"], failure["gpu"]) for failure in own] == [("aks-p-0", 1), ("aks-p-1", 1)]
    assert time.monotonic() - started < 150, "less than a start may take"


def test_a_pod_that_comes_late_is_waited_for(machines: Machines) -> None:
    machines.make(gpus=1)
    run = machines.all_reduce([MIB], gpus=1, late_seconds=4.0)
    assert run["failures"] == []
    assert [size["bytes"] for size in run["sizes"]] == [MIB]


@pytest.mark.parametrize(
    ("sent", "key", "words"),
    [(signal.SIGKILL, "measured", "SIGKILL"), (signal.SIGSTOP, "cause", "no longer answers")],
)
def test_a_rank_that_is_killed_or_hangs_is_named_and_nothing_is_left_running(
    machines: Machines, sent: signal.Signals, key: str, words: str
) -> None:
    machines.make(gpus=2)
    victim = threading.Thread(target=send_to_rank_3, args=(machines, sent))
    victim.start()
    run = machines.all_reduce([GIB] * 2000)
    victim.join()
    (check,) = blamed(run)
    assert (check["node"], check["device"]) == ("aks-p-1", "GPU 1")
    assert words in check[key]
    assert processes(machines.run, "RANK=") == []


@pytest.mark.parametrize(
    ("error", "word"),
    [pytest.param(802, "nvidia-fabricmanager", marks=pytest.mark.long), (220, "the GPU failed")],
)
def test_a_gpu_that_cannot_work_is_named_by_cudas_words(machines: Machines, error: int, word: str) -> None:
    machines.fault({"fault": "gpu-error", "node": "aks-p-1", "gpu": 0, "error": error})
    machines.make(gpus=1)
    (check,) = blamed(machines.all_reduce([GIB], gpus=1))
    assert (check["node"], check["device"]) == ("aks-p-1", "GPU 0")
    assert word in check["cause"]


def test_repetitions_are_launched_as_one_and_where_that_is_refused_one_by_one_which_is_said(machines: Machines) -> None:
    machines.fault({"fault": "no-graphs", "node": "aks-p-1", "gpu": 0})
    machines.make(gpus=1)
    run = machines.all_reduce([1 << 20], gpus=1)
    assert run["one_by_one"] in ("CUDA error: operation not supported", "another rank cannot launch a graph")
    assert run["sizes"][0]["wrong"] == 0
    judge = importlib.import_module("payload.collective.judge")
    expected = {"transport": DIRECT, "hcas": 8, "thresholds": {}, "small": None}
    (check,) = [
        check for check in judge.judge_collective({"runs": [run]}, expected) if check["check"] == "collective-launch"
    ]
    assert check["verdict"] == "not judged"
    assert run["one_by_one"] in check["cause"]


@pytest.mark.long
def test_a_rank_that_hangs_before_its_first_all_reduce_is_named_and_not_those_that_connect(machines: Machines) -> None:
    machines.fault({"fault": "gpu-hang", "node": "aks-p-1", "gpu": 1})
    machines.make(gpus=2)
    started = time.monotonic()
    (check,) = blamed(machines.all_reduce([GIB]))
    assert (check["node"], check["device"]) == ("aks-p-1", "GPU 1")
    assert "no longer answers" in check["cause"]
    assert time.monotonic() - started < 60, "less than a start may take: the library itself waits for ever"


def send_to_rank_3(machines: Machines, number: signal.Signals) -> None:
    """A signal to the last rank, once it measures."""
    scratch = machines.run / "aks-p-1" / "scratch"
    while not any('"seconds"' in result.read_text() for result in scratch.glob("*/gpu1/result.json")):
        time.sleep(0.02)
    for victim in processes(machines.run, "RANK=3"):
        os.kill(victim, number)


def blamed(run: dict[str, Any]) -> list[dict[str, Any]]:
    """The ranks that are named as the cause when a run fails."""
    judge = importlib.import_module("payload.collective.judge")
    expected = {"transport": DIRECT, "hcas": 8, "thresholds": {}, "small": None}
    checks = judge.judge_collective({"runs": [run]}, expected)
    return [check for check in checks if (check["check"], check["verdict"]) == ("collective", "fail")]


def processes(run: Path, variable: str) -> list[int]:
    """Processes of this run's ranks with a variable."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            words = entry.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if f"AKS_INFINIBAND_REHEARSAL={run}" in words and any(word.startswith(variable) for word in words):
            found.append(int(entry.parent.name))
    return found
