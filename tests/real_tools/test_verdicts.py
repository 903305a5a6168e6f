"""Whole validations on real perftest, libibverbs' tools and a real kernel: verdicts, and who is blamed, never figures.

docs/real-tools.md says what the machine is, and what it cannot show.
"""

import pytest

from tests.real_tools.whole_validation import Lane

# The machine is made and started in the first test: minutes on a busy one.
pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

EARLIER, LATER = "6.06", "6.24"
"""The version texts of perftest 4.5 (Debian 12) and 25.01 (Debian 13)."""


def test_two_healthy_nodes_pass(lane: Lane) -> None:
    found = lane.validate()

    assert found.report["verdict"] == "pass", found.bad
    assert [one.code for one in found.ended] == [0, 0]
    assert not found.failed
    assert found.report["coverage"]["hcas"] == {"looked_at": 4, "expected": 4}


def test_a_node_where_memory_cannot_be_locked_is_named_by_the_hca_that_was_used(lane: Lane) -> None:
    found = lane.validate({1: {"UNLOCKED": "mlx5_2"}})

    assert found.report["verdict"] == "fail"
    assert found.failed == {("node-b", "mlx5_2")}
    assert "memory cannot be locked" in found.causes


def test_two_versions_of_perftest_measure_with_each_other_and_are_warned_of(lane: Lane) -> None:
    found = lane.validate({1: {"TOOLS": "later"}})

    assert found.report["verdict"] == "warn", found.bad
    assert not found.failed
    (versions,) = [check for check in found.bad if check["check"] == "versions"]
    assert versions["measured"] == {EARLIER: "node-a", LATER: "node-b"}
