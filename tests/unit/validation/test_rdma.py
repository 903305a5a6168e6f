"""A pool is measured in a ring, what falls short again, and every failure names node, device and cause."""

from typing import Any

import pytest
from aks_infiniband.validation.payload.rdma.judge import judge_coverage
from aks_infiniband.validation.payload.rdma.measuring import Measured, rows
from aks_infiniband.validation.payload.say.checks import is_problem

from tests.unit.validation.fabric import Fabric


def test_a_sound_pool_has_one_passing_check_for_each_figure_with_its_threshold(thresholds: Any) -> None:
    measured, checks = Fabric(4, 8).judge(thresholds)
    assert [check["check"] for check in checks] == [
        "rdma-read-latency",
        "rdma-ping-pong-latency",
        "rdma-ping-pong-throughput",
        "rdma-write-bandwidth",
        "rdma-read-bandwidth",
    ]
    assert {check["verdict"] for check in checks} == {"pass"}
    write = next(check for check in checks if check["check"] == "rdma-write-bandwidth")
    assert (write["measured"], write["unit"], write["expected"]) == ("393.1", "Gb/s", "at least 360 Gb/s (quoted)")
    assert write["threshold"]["basis"] == "quoted"
    assert len(rows(measured)) == 4 * 8 * 5


@pytest.mark.field_report("R5")
def test_an_hca_that_is_in_no_pair_fails_the_coverage_by_name(thresholds: Any) -> None:
    fabric = Fabric(3, 2)
    seen: Any = {node: {"hcas": [{"device": device} for device in rails]} for node, rails in fabric.rails.items()}
    measured, _ = fabric.judge(thresholds)
    assert judge_coverage(measured, seen)["verdict"] == "pass"
    seen["n1"]["hcas"].append({"device": "ib8"})
    check = judge_coverage(measured, seen)
    assert (check["verdict"], check["expected"], check["measured"]) == ("fail", 7, 6)
    assert "n1 (ib8): in no pair" in str(check["cause"])
    nothing = judge_coverage(Measured(thresholds, {}), seen)
    assert (nothing["verdict"], is_problem(nothing)) == ("not measured", True)
