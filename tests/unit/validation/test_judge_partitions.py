"""Nodes of a pool, judged together: all of them on one fabric."""

from typing import Any

import pytest
from aks_infiniband.validation.payload.look.judge import judge_pool


@pytest.mark.field_report("A2")
def test_nodes_on_different_partitions_are_named_with_the_cause(healthy: Any, expected: Any, bad: Any) -> None:
    other = healthy()
    for hca in other["hcas"]:
        hca["partition_keys"] = ["0x8013", "0xffff"]

    checks = judge_pool({"n0": healthy(), "n1": other}, expected)
    assert bad(checks) == [("partition-keys", None, None)]
    cause = next(str(check["cause"]) for check in checks if check["verdict"] == "fail")
    assert "n0, n1 are on different partitions" in cause
    assert "AKSInfinibandSupport was not registered" in cause


def test_full_and_limited_membership_are_the_same_partition(healthy: Any, expected: Any, bad: Any) -> None:
    limited = healthy()
    for hca in limited["hcas"]:
        hca["partition_keys"] = ["0x0012", "0x7fff"]

    assert bad(judge_pool({"n0": healthy(), "n1": limited}, expected)) == []


def test_a_default_key_more_or_less_does_not_make_another_fabric(healthy: Any, expected: Any, bad: Any) -> None:
    without = healthy()
    for hca in without["hcas"]:
        hca["partition_keys"] = ["0x8012"]

    checks = judge_pool({"n0": healthy(), "n1": without}, expected)
    assert bad(checks) == []
    assert next(check["measured"] for check in checks if check["check"] == "partition-keys") == "0x0012"


def test_a_node_on_the_default_partition_only_is_on_another_fabric(healthy: Any, expected: Any, bad: Any) -> None:
    lost = healthy()
    for hca in lost["hcas"]:
        hca["partition_keys"] = ["0xffff"]

    checks = judge_pool({"n0": healthy(), "n1": lost}, expected)
    assert bad(checks) == [("partition-keys", None, None)]
    causes = [str(check["cause"]) for check in checks if check["verdict"] == "fail"]
    assert "n1 on only the default" in causes[0]


def test_one_hca_on_another_partition_is_named(healthy: Any, expected: Any, bad: Any) -> None:
    facts = healthy()
    facts["hcas"][4]["partition_keys"] = ["0x8099", "0xffff"]

    assert bad(judge_pool({"n0": healthy(), "n1": facts}, expected)) == [("partition-keys", "n1", "mlx5_ib4")]
