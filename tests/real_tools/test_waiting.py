"""Whole validations in which tools wait in vain for each other: who is blamed.

They wait most of their time, so they have a virtual machine of their own, beside that of the others.
"""

import pytest

from tests.real_tools.whole_validation import Lane

# The machine is made and started in the first test: minutes on a busy one.
pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]


def test_an_hca_without_device_file_is_named_and_no_other(lane: Lane) -> None:
    found = lane.validate({1: {"LACKS": "mlx5_2"}})

    assert found.report["verdict"] == "fail"
    assert found.failed == {("node-b", "mlx5_2")}
    assert "not in the pod" in found.causes


def test_of_connections_that_are_dropped_between_pods_no_hca_is_blamed(lane: Lane) -> None:
    isolated = "for pod in 0 1; do echo {} >/sys/class/net/pod-$pod/brport/isolated; done"
    with lane.while_(isolated.format(1), isolated.format(0)):
        found = lane.validate(seconds=300)  # each connection is waited for in vain, and has a share of this

    assert found.report["verdict"] == "fail"
    assert found.failed == {(None, None)}
    assert "network policy" in found.causes
