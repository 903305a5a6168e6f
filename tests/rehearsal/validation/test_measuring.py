"""The validation's pods as real processes that run the simulated tools: what is wrong is found, named and explained."""

import json
import signal
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.validation.payload.report.kept import evidence_of

from tests.rehearsal.validation.measured import HB, Make, checks_of
from tests.rehearsal.validation.pods import failures


def test_a_sound_pool_is_measured_whole_and_every_figure_has_its_provenance(pods: Make) -> None:
    code, message, report = pods(HB).all()

    assert (code, report["verdict"]) == (0, "pass"), message
    assert message == f"{evidence_of(report)}\npool hb: pass on {report['finished']} (3 of 3 nodes, 3 of 3 HCAs)"
    rows = report["rdma"]
    assert {(row["figure"], row["node"], row["peer"]) for row in rows} == {
        (figure, f"node-{n}", f"node-{(n + 1) % 3}") for figure in report["thresholds"] for n in range(3)
    }
    write = [row["value"] for row in rows if row["figure"] == "rdma-write-bandwidth"]
    assert write == pytest.approx([393.1] * 3)
    for figure, threshold in report["thresholds"].items():
        (check,) = checks_of(report, figure)
        assert check["threshold"] == threshold
        assert threshold["source"]
    assert report["nodes"]["node-0"]["versions"]["ib_write_bw"] == "6.06"
    assert report["counters"]["node-1"]["mlx5_0"]["link_downed"] == 0
    assert json.loads(json.dumps(report)) == report


def test_a_later_run_is_compared_with_the_one_that_was_accepted(pods: Make) -> None:
    made = pods(HB)
    first = made.all()
    assert first[0] == 0, first[1]
    accepted = made.api.config_maps["report"]["accepted.json"]
    assert json.loads(accepted)["values"]["rdma-read-latency"] == pytest.approx(5.5)
    made.faults, made.run = [{"fault": "latency", "node": "node-1", "factor": 1.07}], "job-2"
    made.prepare()
    made.api.config_maps["report"]["accepted.json"] = accepted
    code, message, report = made.finish([made.start(rank) for rank in made.ranks])
    assert (code, report["verdict"]) == (0, "warn"), message
    assert {check["device"] for check in checks_of(report, "regression")} >= {"rdma-read-latency"}
    assert made.api.config_maps["report"]["accepted.json"] == accepted


def test_a_tool_that_hangs_is_killed_and_its_node_is_named(pods: Make) -> None:
    began = time.monotonic()
    code, message, report = pods(HB, {"fault": "hang", "node": "node-1"}, measure_seconds=24.0).all()

    assert time.monotonic() - began < 240, "a pod may take 300"
    assert code == 1
    assert ("rdma-read-latency", "node-1", "mlx5_0") in failures(report)
    assert "was killed" in message
    assert "the tool hung without a word" in message


@pytest.mark.field_report("C6b")
def test_a_port_in_use_costs_a_try_and_is_reported(pods: Make) -> None:
    code, message, report = pods(HB, {"fault": "port-in-use", "node": "node-2", "times": 1}).all()

    assert (code, report["verdict"]) == (0, "warn"), message
    (check,) = [check for check in checks_of(report, "rdma-read-latency") if check["verdict"] == "warn"]
    assert "Couldn't listen to port" in check["tries"][0]["error"]
    assert check["tries"][1]["value"] == pytest.approx(5.5)
    assert "it took 2 tries" in message


def test_a_port_that_somebody_really_holds_is_left_alone(pods: Make) -> None:
    with socket.create_server(("", 18515 + 7)):
        code, message, _ = pods(HB).all()
    assert code == 0, message


@pytest.mark.field_report("C12")
def test_a_link_that_goes_down_while_it_is_used_fails_by_its_counter(pods: Make) -> None:
    code, message, report = pods(HB, {"fault": "flapping", "node": "node-2"}).all()

    assert code == 1
    assert failures(report) == [("error-counters", "node-2", "mlx5_0")]
    assert "at most 0 more link_downed" in message


@pytest.mark.field_report("C2")
def test_without_ipc_lock_and_with_a_low_limit_nothing_is_timed(pods: Make) -> None:
    made = pods(HB)
    made.prepare()
    for rank in made.ranks:
        folder = made.folder / made.node(rank) / "proc/self"
        (folder / "status").write_text("CapEff:\t0000000000000000\n")
        (folder / "limits").write_text(
            "Max locked memory         8388608              8388608              bytes     \n"
        )
    code, message, report = made.finish([made.start(rank) for rank in made.ranks])
    assert code == 1
    assert {check for check, _, _ in failures(report)} == {"memlock"}
    assert "ibv_reg_mr: Cannot allocate memory" in message
    assert report["rdma"] == []


def test_a_peer_that_starts_late_is_waited_for(pods: Make) -> None:
    made = pods(HB)
    made.prepare()
    processes = [made.start(rank) for rank in (0, 1)]
    late = threading.Timer(3.0, lambda: processes.append(made.start(2)))
    late.start()
    late.join()
    code, message, report = made.finish(processes)
    assert (code, report["verdict"]) == (0, "pass"), message


def test_a_pod_that_is_killed_half_way_and_started_again_comes_to_the_same_report(pods: Make) -> None:
    made = pods(HB)
    made.prepare()
    processes = [made.start(rank) for rank in made.ranks]
    deadline = time.monotonic() + 60
    while not made.api.annotations.get("report") and time.monotonic() < deadline:
        time.sleep(0.02)
    processes[1].send_signal(signal.SIGKILL)
    processes[1].wait()
    processes[1] = made.start(1, pod="pod-1-again")
    code, message, report = made.finish(processes)
    assert (code, report["verdict"]) in ((0, "pass"), (0, "warn")), message
    assert len(report["rdma"]) == 15


def test_ipoib_is_measured_on_its_own_interface_beside_the_pod_network(pods: Make) -> None:
    pool = HB.changed(mode="ipoib", node_count=2, ipoib_networks=("aks-infiniband",), ipoib_devices=("ibP257p0s0",))
    code, message, report = pods(pool, measure_seconds=180.0).all()

    assert (code, report["verdict"]) == (0, "pass"), message
    found = {(row["network"], row["figure"]): row["value"] for row in report["networks"]}
    assert found["net1", "ipoib-throughput"] > 4 * found["eth0", "pod-network-throughput"]
    assert {check["verdict"] for check in checks_of(report, "ipoib-latency")} == {"pass"}


@pytest.mark.field_report("C8", "R13")
@pytest.mark.parametrize(
    ("size", "verdict", "exit_code", "cause"),
    [
        # The nodes on which the limits were measured, and those on which they were not.
        ("Standard_ND96asr_v4", "warn", 0, "slower than usual"),
        ("Standard_HB120rs_v3", "warn", 0, "slower than usual"),
    ],
)
def test_a_slow_ipoib_interface_is_told_with_its_node_and_interface(
    pods: Make, size: str, verdict: str, exit_code: int, cause: str
) -> None:
    pool = HB.changed(
        size=SIZES[size],
        gpu_driver="none",
        mode="ipoib",
        node_count=2,
        ipoib_networks=("aks-infiniband",),
        ipoib_devices=("ibP257p0s0",),
    )
    fault = {"fault": "slow-ipoib", "node": "node-1", "factor": 0.2}
    code, message, report = pods(pool, fault, measure_seconds=180.0).all()

    assert (code, report["verdict"]) == (exit_code, verdict)
    found = [check for check in report["checks"] if check["verdict"] == verdict and check["check"].startswith("ipoib")]
    assert {check["check"] for check in found} == {"ipoib-latency", "ipoib-message-rate", "ipoib-throughput"}
    assert {check["device"] for check in found} == {"net1"}
    assert cause in message


def test_an_image_without_the_tools_is_not_measured_and_that_is_no_pass(pods: Make, monkeypatch: Any) -> None:
    monkeypatch.setattr("tests.rehearsal.validation.pods.BIN", Path("/nowhere"))
    monkeypatch.setattr("tests.rehearsal.validation.pods.SYSTEM_PATH", "/nowhere")
    code, message, report = pods(HB).all()

    assert (code, report["verdict"]) == (1, "not measured"), message
    assert "the image lacks the tool" in message
    assert "no tdnf or apt-get" in report["nodes"]["node-0"]["tools"]["error"]
