"""A validation in which one HCA's packets do not arrive. The module takes longest, and so it has a separate machine."""

import pytest

from tests.real_tools.whole_validation import Lane

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]


def test_an_hca_whose_packets_are_lost_is_named_and_no_other(lane: Lane) -> None:
    with lane.while_("/bin/ip link set port-3 nomaster", "/bin/ip link set port-3 master fabric"):
        found = lane.validate(tries=2)

    assert found.report["verdict"] == "fail"
    assert found.failed == {("node-b", "mlx5_3")}
    assert "packets do not arrive" in found.causes
