"""The obstacles to the measurement of a pool, and the words on them."""

from typing import Any

import pytest
from aks_infiniband.validation.payload import validate
from aks_infiniband.validation.payload.programs.clients import Limits
from aks_infiniband.validation.payload.rdma import measuring as rdma
from aks_infiniband.validation.payload.rdma.measuring import Measured
from aks_infiniband.validation.payload.say.checks import make_check


def failed(name: str, node: str | None = None, device: str | None = None) -> Any:
    return make_check(name, "fail", node=node, device=device, expected=1, measured=0, cause="c")


@pytest.mark.parametrize("name", ["nodes-reported", "partition-keys", "memlock"])
def test_nothing_is_timed_where_no_tool_would_get_anywhere(expected: Any, name: str) -> None:
    checks = [failed(name)]
    what = validate.obstacle(checks, 2)
    assert what is not None
    outcome = validate.skipped(checks, expected)
    assert {check["verdict"] for check in outcome.checks} == {"not measured"}
    assert {check["cause"] for check in outcome.checks} == {what[1]}
    assert {*expected["figures"], "all-reduce", "gpu-rate"} == {check["check"] for check in outcome.checks}


def test_a_device_that_is_wrong_keeps_nobody_from_measuring_the_others() -> None:
    assert (
        validate.obstacle([failed("partition-keys", "n0", "mlx5_ib3"), failed("hca-state", "n0", "mlx5_ib1")], 2)
        is None
    )


def test_a_pool_of_one_node_has_no_pair_and_that_is_nobodys_fault(expected: Any) -> None:
    outcome = validate.skipped([], expected | {"node_count": 1})
    assert {check["cause"] for check in outcome.checks} == {None}


class FakeLead:
    """Leads no pod: every step gives nothing."""

    members: dict[str, Any] = {node: {"devices": {}, "inactive": []} for node in ("n0", "n1")}  # noqa: RUF012
    time_is_up = False
    seconds_left = 60.0

    def step(self, step: Any) -> dict[str, Any]:
        assert "collective" not in step
        return {}


@pytest.mark.field_report("A6")
def test_the_collective_is_not_begun_where_a_gpu_is_missing(expected: Any, healthy: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(rdma, "measure", lambda *_, **__: Measured({}, {}))
    lead: Any = FakeLead()
    outcome = validate.measure(
        lead, {"n0": healthy(), "n1": healthy()}, expected, [failed("accelerator-devices", "n1")], limits=Limits(5, 5)
    )
    (check,) = [check for check in outcome.checks if check["check"] == "collective"]
    assert check["verdict"] == "not measured"
    assert "see accelerator-devices" in str(check["cause"])
