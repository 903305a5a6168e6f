"""The validation's pods on machines with a fault of an HCA, its port or its fabric: it is found and explained."""

import pytest

from tests.rehearsal.validation.measured import HB, ND, Make, checks_of
from tests.rehearsal.validation.pods import failures

PATIENT = 600.0
"""Seconds for all measurements: each tool may take a twelfth, as all of a pool's start at once on a machine that is
busy with other things."""


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
    code, message, report = pods(ND, fault, measure_seconds=PATIENT).all()

    assert code == 1
    assert {(node, device) for _, node, device in failures(report)} == {("node-1", "mlx5_6")}, message


def test_hcas_that_share_a_pcie_link_are_measured_alone_and_pass_with_what_they_give_together(pods: Make) -> None:
    fault = {"fault": "shared-pcie", "node": "node-1", "device": "mlx5_[01]", "factor": 0.5}
    code, message, report = pods(ND, fault, measure_seconds=PATIENT).all()

    assert (code, report["verdict"], failures(report)) == (0, "pass", []), message
    for figure in ("rdma-write-bandwidth", "rdma-read-bandwidth"):
        (check,) = [check for check in checks_of(report, "rdma-contention") if check["device"] == figure]
        assert (check["verdict"], check["measured"]) == (
            "not judged",
            "196.55 Gb/s side by side, 393.1 Gb/s alone",
        )
        rows = [row for row in report["rdma"] if row["figure"] == figure]
        assert {row["value"] for row in rows} == {393.1}
        assert {row["device"]: row["side_by_side"] for row in rows if row["node"] == "node-0"} == {
            f"mlx5_{n}": 196.55 if n < 2 else 393.1 for n in range(8)
        }
    assert "not judged: rdma-contention on rdma-write-bandwidth" in message


@pytest.mark.field_report("R5")
def test_hcas_meet_on_their_rail_whatever_the_kernel_or_an_image_calls_them(pods: Make) -> None:
    names = [
        {"fault": "ethernet", "place": 0, "node": "node-0"},
        {"fault": "ethernet", "place": 3, "node": "node-1"},
        {"fault": "hpc-image-names", "node": "node-2"},
    ]
    last = {"fault": "slow", "node": "node-0", "device": "mlx5_8", "factor": 0.5}
    pool = ND.changed(node_count=3)
    code, message, report = pods(pool, *names, last, measure_seconds=PATIENT).all()

    assert code == 1, "mlx5_8 is the last HCA of this node; the Ethernet device is mlx5_0 here, and mlx5_3 on another"
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
    code, message, report = pods(ND, fault, measure_seconds=PATIENT).all()

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
    code, message, report = pods(HB, {"fault": "no-provider", "node": "node-1"}, measure_seconds=30.0).all()

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
    assert "nodes on different partitions cannot reach each other" in message
    assert report["rdma"] == []


def test_one_hca_on_another_partition_than_its_siblings_is_named(pods: Make) -> None:
    fault = {"fault": "partition", "node": "node-0", "device": "mlx5_2"}
    # Two tools one after the other wait as long as they may.
    code, _, report = pods(ND, fault, measure_seconds=PATIENT / 2).all()

    assert code == 1
    assert {(node, device) for _, node, device in failures(report)} == {("node-0", "mlx5_2")}
    assert checks_of(report, "rdma-write-bandwidth")[0]["cause"].count("packets do not arrive")
