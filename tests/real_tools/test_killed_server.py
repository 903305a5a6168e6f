"""A validation in which the kernel kills one HCA's servers."""

import pytest

from tests.real_tools.whole_validation import Lane

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]


def test_a_server_that_its_node_kills_is_named(lane: Lane) -> None:
    found = lane.validate({1: {"KILLS": "ib_write_bw mlx5_3"}}, tries=2)

    assert found.report["verdict"] == "fail"
    assert found.failed == {("node-b", "mlx5_3")}
    assert "ended by signal 9" in found.causes
