"""The validation's pods as real processes that run the simulated tools: what is wrong is found, named and explained."""

import json
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool

from tests.rehearsal.validation.pods import Pods, failures
from tests.unit.validation.fake_api import FakeApi

HB = Pool(
    name="hb",
    size=SIZES["Standard_HB176rs_v4"],
    node_count=3,
    node_selector={"agentpool": "hb"},
    mode="rdma-shared",
    nic_driver="doca-ofed",
    gpu_driver="none",
)
ND = replace(HB, name="nd", size=SIZES["Standard_ND96isr_H100_v5"], node_count=2, gpu_driver="none")
"""Its GPUs are not measured here: the collective has tests of its own."""

Make = Callable[..., Pods]


@pytest.fixture
def pods(tmp_path: Path) -> Iterator[Make]:
    """Makes the pods of a pool."""
    with FakeApi() as api:
        yield lambda pool, *faults, **others: Pods(tmp_path, pool, api, faults=list(faults), **others)


def checks_of(report: Any, name: str) -> list[Any]:
    return [check for check in report["checks"] if check["check"] == name]


def test_a_sound_pool_is_measured_whole_and_every_figure_has_its_provenance(pods: Make) -> None:
    code, message, report = pods(HB).all()

    assert (code, report["verdict"]) == (0, "pass"), message
    assert message == "pool hb: pass (3 of 3 nodes, 3 of 3 HCAs)"
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


@pytest.mark.field_report("C6")
def test_a_slow_hca_fails_the_pool_and_not_its_neighbours(pods: Make) -> None:
    fault = {"fault": "slow", "node": "node-1", "device": "mlx5_0", "factor": 0.5}
    code, message, report = pods(HB, fault).all()

    assert code == 1
    assert failures(report) == [
        ("rdma-write-bandwidth", "node-1", "mlx5_0"),
        ("rdma-read-bandwidth", "node-1", "mlx5_0"),
    ]
    assert "it falls short with node-0 and node-2" in message
    assert "expected at least 360 Gb/s (computed), measured 196.55 Gb/s (before: 196.55, 196.55)" in message


def test_of_two_nodes_one_slow_hca_among_eight_is_named(pods: Make) -> None:
    fault = {"fault": "slow", "node": "node-1", "device": "mlx5_6", "factor": 0.5}
    code, message, report = pods(ND, fault, measure_seconds=90.0).all()

    assert code == 1
    assert {(node, device) for _, node, device in failures(report)} == {("node-1", "mlx5_6")}, message


@pytest.mark.field_report("R5")
def test_hcas_meet_on_their_rail_whatever_the_kernel_or_an_image_calls_them(pods: Make) -> None:
    names = [{"fault": "ethernet-first", "node": "node-0"}, {"fault": "hpc-image-names", "node": "node-2"}]
    last = {"fault": "slow", "node": "node-0", "device": "mlx5_8", "factor": 0.5}
    pool = replace(ND, node_count=3)
    code, message, report = pods(pool, *names, last, measure_seconds=90.0).all()

    assert code == 1, "mlx5_8 is the last HCA of this node, and the Ethernet device of another"
    assert {(node, device) for _, node, device in failures(report)} == {("node-0", "mlx5_8")}, message
    rail = {(node, hca["device"]): hca["pci_address"] for node, seen in report["nodes"].items() for hca in seen["hcas"]}
    assert len(rail) == 24
    neighbours = [row for row in report["rdma"] if row["neighbours"]]
    assert {rail[row["node"], row["device"]] for row in neighbours} == {f"010{n}:00:00.0" for n in range(1, 9)}
    for row in neighbours:
        assert rail[row["node"], row["device"]] == rail[row["peer"], row["peer_device"]]


PORT_FAULTS: dict[str, tuple[list[tuple[str, str | None]], str]] = {
    "link-down": (
        [("hca-state", "mlx5_3"), ("hca-physical-state", "mlx5_3")],
        "the subnet manager has not brought",
    ),
    "half-rate": (
        [("hca-rate", "mlx5_3"), ("rdma-write-bandwidth", "mlx5_3")],
        "the link trained with fewer lanes",
    ),
    "missing": ([("hca-count", None)], "A missing one is a fault of the host"),
}
"""By fault: the checks that it fails, the device, and the likely cause of the first check."""


@pytest.mark.parametrize("name", PORT_FAULTS)
def test_a_port_that_is_down_slow_or_missing_is_named_by_its_fabric_check(pods: Make, name: str) -> None:
    fault = {"fault": name, "node": "node-1", "device": "mlx5_3"}
    code, message, report = pods(ND, fault, measure_seconds=90.0).all()

    assert code == 1
    named, cause = PORT_FAULTS[name]
    assert {("node-1", check, device) for check, device in named} <= {
        (node, check, device) for check, node, device in failures(report)
    }, message
    assert cause in str([check["cause"] for check in checks_of(report, named[0][0]) if check["verdict"] == "fail"])
    assert {node for _, node, _ in failures(report)} <= {"node-1", None}
    (coverage,) = checks_of(report, "hcas-measured")
    measured = {row["device"] for row in report["rdma"] if row["node"] == "node-0"}
    assert measured == {f"mlx5_{n}" for n in range(8)} - ({"mlx5_3"} if name != "half-rate" else set())
    assert coverage["verdict"] == ("pass" if name == "half-rate" else "fail")
    if name == "half-rate":
        assert "its link runs at 200 Gb/s, the node's others at 400" in message
    else:
        assert "node-0 (mlx5_3)" in coverage["cause"]


@pytest.mark.field_report("R18")
def test_a_machine_in_another_placement_group_is_named_before_anything_is_timed(pods: Make) -> None:
    code, message, report = pods(HB, {"fault": "placement-group", "node": "node-1"}).all()

    assert (code, failures(report)) == (1, [("placement-group", None, None)])
    assert "node-0, node-2 in " in message
    assert "; node-1 in " in message
    assert "singlePlacementGroup=true" in message
    assert report["rdma"] == []
    assert {check["verdict"] for check in report["checks"] if check["check"].startswith("rdma-w")} == {"not measured"}


@pytest.mark.field_report("C1")
def test_a_pod_without_a_provider_of_libibverbs_is_named_and_so_is_what_it_lacks(pods: Make) -> None:
    code, message, report = pods(HB, {"fault": "no-provider", "node": "node-1"}).all()

    assert code == 1
    found = [check for check in report["checks"] if check["check"] == "verbs-devices"]
    assert [(check["node"], check["verdict"], check["measured"]) for check in found] == [
        ("node-0", "pass", 1),
        ("node-1", "fail", 0),
        ("node-2", "pass", 1),
    ]
    assert "the image lacks libibverbs or its provider libmlx5" in message
    assert "No IB devices found" in message


@pytest.mark.field_report("A2")
def test_nodes_on_different_partitions_are_not_measured_and_say_why(pods: Make) -> None:
    code, message, report = pods(HB, fabrics={2: "other"}).all()

    assert code == 1
    assert failures(report) == [("partition-keys", None, None)]
    assert "rdma-write-bandwidth" in report["coverage"]["not_measured"]
    assert "nodes on different partitions have no path between them" in message
    assert report["rdma"] == []


def test_one_hca_on_another_partition_than_its_siblings_is_named(pods: Make) -> None:
    fault = {"fault": "partition", "node": "node-0", "device": "mlx5_2"}
    code, _, report = pods(ND, fault, measure_seconds=90.0).all()

    assert code == 1
    assert {(node, device) for _, node, device in failures(report)} == {("node-0", "mlx5_2")}
    assert checks_of(report, "rdma-write-bandwidth")[0]["cause"].count("packets do not arrive")


def test_a_tool_that_hangs_is_killed_and_its_node_is_named(pods: Make) -> None:
    began = time.monotonic()
    code, message, report = pods(HB, {"fault": "hang", "node": "node-1"}, measure_seconds=24.0).all()

    assert time.monotonic() - began < 90
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
    assert "link_downed grows by at most 0" in message


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
    made = pods(HB, measure_seconds=60.0)
    made.prepare()
    processes = [made.start(rank) for rank in made.ranks]
    deadline = time.monotonic() + 60
    while not made.api.annotations.get("rendezvous") and time.monotonic() < deadline:
        time.sleep(0.02)
    processes[1].send_signal(signal.SIGKILL)
    processes[1].wait()
    processes[1] = made.start(1, pod="pod-1-again")
    code, message, report = made.finish(processes)
    assert (code, report["verdict"]) in ((0, "pass"), (0, "warn")), message
    assert len(report["rdma"]) == 15


def test_ipoib_is_measured_on_its_own_interface_beside_the_pod_network(pods: Make) -> None:
    pool = replace(HB, mode="ipoib", node_count=2, ipoib_networks=("aks-infiniband",), ipoib_devices=("ibP257p0s0",))
    code, message, report = pods(pool).all()

    assert (code, report["verdict"]) == (0, "pass"), message
    found = {(row["network"], row["figure"]): row["value"] for row in report["networks"]}
    assert found["net1", "ipoib-throughput"] > 4 * found["eth0", "pod-network-throughput"]
    assert {check["verdict"] for check in checks_of(report, "ipoib-latency")} == {"pass"}


@pytest.mark.field_report("C8")
@pytest.mark.parametrize(
    ("size", "verdict", "exit_code", "cause"),
    [
        # Where the limits were measured, and where they were not.
        ("Standard_ND96asr_v4", "fail", 1, "slower than IPoIB is on these machines"),
        ("Standard_HB120rs_v3", "warn", 0, "slower than usual"),
    ],
)
def test_a_slow_ipoib_interface_is_told_with_its_node_and_interface(
    pods: Make, size: str, verdict: str, exit_code: int, cause: str
) -> None:
    pool = replace(
        HB,
        size=SIZES[size],
        gpu_driver="none",
        mode="ipoib",
        node_count=2,
        ipoib_networks=("aks-infiniband",),
        ipoib_devices=("ibP257p0s0",),
    )
    code, message, report = pods(pool, {"fault": "slow-ipoib", "node": "node-1", "factor": 0.2}).all()

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
