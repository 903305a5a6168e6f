"""Ports that carry less than their link can, as the field had them: who is named, and when both nodes are."""

from collections.abc import Callable
from typing import Any

import pytest
from aks_infiniband.validation.payload.rdma.narrowing import End
from aks_infiniband.validation.payload.rdma.tasks import Task

from tests.unit.validation.fabric import Fabric, bad_ones


def everywhere(bad: set[End], value: float) -> Callable[[Task, int], Any]:
    """A task's result if these ends carry so much in either direction."""
    return lambda task, attempt: (
        {f"rdma-{task.kind}": value} if task.kind.endswith("-bandwidth") and bad & set(task.pair) else None
    )


@pytest.mark.parametrize("nodes", [4, 16, 100])
def test_a_node_whose_every_port_carries_351_is_named_with_all_its_ports(thresholds: Any, nodes: int) -> None:
    sick = {End("n2", f"ib{port}") for port in range(8)}
    fabric = Fabric(nodes, 8)
    fabric.wrong = everywhere(sick, 351.0)
    _, checks = fabric.judge(thresholds)
    assert {End(check["node"], check["device"]) for check in checks if check["verdict"] == "fail"} == sick


def test_of_two_nodes_whose_every_pair_carries_351_neither_is_named_and_both_are_said(thresholds: Any) -> None:
    fabric = Fabric(2, 8)
    fabric.wrong = everywhere({End("n1", f"ib{port}") for port in range(8)}, 351.0)
    _, checks = fabric.judge(thresholds)
    assert bad_ones(checks) == [
        ("fail", "rdma-write-bandwidth", None, None),
        ("fail", "rdma-read-bandwidth", None, None),
    ]
    failed = [check for check in checks if check["verdict"] == "fail"]
    assert all("the fault is either of n0 and n1, or what they have in common" in check["cause"] for check in failed)


@pytest.mark.parametrize("nodes", [2, 4, 16])
def test_two_ports_that_carry_321_are_named_and_no_other(thresholds: Any, nodes: int) -> None:
    sick = {End("n1", "ib2"), End("n1", "ib5")}
    fabric = Fabric(nodes, 8)
    fabric.wrong = everywhere(sick, 321.0)
    _, checks = fabric.judge(thresholds)
    assert {End(check["node"], check["device"]) for check in checks if check["verdict"] == "fail"} == sick
