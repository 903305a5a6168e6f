"""The validation's pods with tools that say nothing when killed and wait for ever: who is named, and who is not.

The behaviour of the tools here was recorded of real ones (tests/field_recordings/tools.yaml).
"""

from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES

from tests.rehearsal.validation.measured import HB, ND, Make, checks_of
from tests.rehearsal.validation.pods import failures

FOUR_RAILS = ND.changed(size=SIZES["Standard_ND128isr_GB300_v6"])
"""Two machines with four HCAs each."""
ONCE = {"tries": 1}
"""A second try takes as long as the first and shows the same."""


def named(report: Any) -> set[tuple[str | None, str | None]]:
    """Node and device of every RDMA figure that failed."""
    return {(node, device) for check, node, device in failures(report) if check.startswith("rdma-")}


def test_a_tool_without_its_device_file_is_named_and_not_the_peer_that_waited_for_it(pods: Make) -> None:
    made = pods(HB, changes=ONCE)
    made.prepare()
    (made.folder / "node-1/dev/infiniband/uverbs0").unlink()
    _, message, report = made.finish([made.start(rank) for rank in made.ranks])

    assert named(report) == {("node-1", "mlx5_0")}, message
    assert "its /dev/infiniband file is not in the pod" in message


def test_an_hca_whose_packets_are_lost_is_named_though_its_peers_poll_for_ever(pods: Make) -> None:
    _, message, report = pods(HB, {"fault": "packets-lost", "node": "node-1"}, changes=ONCE).all()

    assert named(report) == {("node-1", "mlx5_0")}, message
    (latency,) = [check for check in checks_of(report, "rdma-ping-pong-latency") if check["verdict"] == "fail"]
    assert latency["cause"].count("transport retry counter exceeded") == 1
    assert "packets do not arrive" in latency["cause"]


def test_a_tool_that_hangs_costs_its_own_rail_alone(pods: Make) -> None:
    fault = {"fault": "hang", "node": "node-1", "device": "mlx5_0"}
    _, message, report = pods(FOUR_RAILS, fault, changes=ONCE).all()

    assert named(report) == {("node-1", "mlx5_0")}, message
    healthy = [row for row in report["rdma"] if row["device"] != "mlx5_0" and row["neighbours"]]
    assert healthy
    assert {len(row["tries"]) for row in healthy} == {1}
    assert "did not end within 0 s" not in message


def test_connections_that_something_drops_are_laid_to_the_pod_network_and_to_no_hca(pods: Make) -> None:
    _, message, report = pods(HB, {"fault": "connections-dropped", "node": "node-1"}, changes=ONCE).all()

    assert named(report) == {(None, None)}, message
    assert "something on the pod network drops them" in message
    assert "the pod network from node-1 to node-2, and no HCA of the two" in message
    assert "the driver or the HCA does not answer" not in message


@pytest.mark.parametrize("release", ["4.5", "25.01"])
def test_two_releases_of_perftest_measure_together(pods: Make, release: str) -> None:
    code, message, report = pods(HB, {"fault": "perftest", "node": "node-1", "release": release}).all()
    assert (code, report["verdict"]) == (0, "pass" if release == "4.5" else "warn"), message
    assert report["nodes"]["node-1"]["versions"]["ib_write_bw"] == {"4.5": "6.06", "25.01": "6.24"}[release]
