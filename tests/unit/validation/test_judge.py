"""Every check passes on a healthy node, and fails with node and device when that one thing is wrong."""

from typing import Any

import pytest
from aks_infiniband.validation.payload.look.judge import judge_pool


def test_a_healthy_pool_fails_nothing_and_says_what_nobody_means_to_measure(healthy: Any, expected: Any) -> None:
    expected = expected | {"not_measured": ["all-reduce"]}
    checks = judge_pool({"n0": healthy(), "n1": healthy()}, expected)

    assert {check["verdict"] for check in checks} == {"pass", "not measured"}
    assert [check["check"] for check in checks if check["verdict"] == "not measured"] == ["all-reduce"]


@pytest.mark.field_report("C6")
def test_every_check_is_made_on_every_node(healthy: Any, expected: Any) -> None:
    checks = judge_pool({"n0": healthy(), "n1": healthy()}, expected)

    for node in ("n0", "n1"):
        assert [check["check"] for check in checks if check["node"] == node] == [
            "environment",
            "hca-count",
            "hca-state",
            "hca-physical-state",
            "hca-rate",
            "nccl-hca-filter",
            "rdma-devices",
            "verbs-devices",
            "accelerator-devices",
            "memlock",
            "shm",
        ]
