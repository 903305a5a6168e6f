"""`aks-infiniband validate` in a cluster of each mode that no stack validates: what it goes by, and what it leaves.

Each test ends its data centre by itself: with the fixture, all of them would be there at the end.
"""

from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from rehearsal.testing.stack import rehearsing
from tests.rehearsal.existing.without_a_stack import brought, command, everything, validate
from tests.rehearsal.stacks.conftest import Stack, copy_of_project
from tests.rehearsal.waiting import eventually

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]


class Case(NamedTuple):
    """A stack whose validation is off, and how one of its pools is measured. choose: what decides between ways."""

    stack: str
    pool: str
    mode: str
    resource: str | None
    kinds: frozenset[str]
    operator: dict[str, Any] | None = None
    choose: tuple[str, ...] = ()


CASES: Final = (
    Case("sriov", "nda100", "sriov", "rdma/ib", frozenset({"rdma-write-bandwidth", "all-reduce"})),
    Case(
        *("ipoib", "hbv4", "ipoib", "rdma/shared_ib"),
        kinds=frozenset({"rdma-write-bandwidth", "ipoib-throughput"}),
        choose=("--mode", "ipoib"),
    ),
    Case("dra", "ndh100", "dra", None, frozenset({"rdma-write-bandwidth", "all-reduce"})),
    Case("hbv4", "hbv4", "driver-only", None, frozenset({"rdma-write-bandwidth"}), operator={"mode": "driver-only"}),
    Case("gb300", "gb300", "rdma-shared", "rdma/shared_ib", frozenset({"all-reduce", "all-reduce-nvlink"})),
)


def has_gpus(node: dict[str, Any]) -> bool:
    """True if a device plugin offers GPUs of the node."""
    return int(node["status"]["allocatable"].get("nvidia.com/gpu", 0)) > 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.stack}-{case.mode}")
def test_a_pool_of_each_mode_passes_and_all_that_was_brought_is_gone(tmp_path: Path, case: Case) -> None:
    with rehearsing(copy_of_project(tmp_path / "project"), case.stack, folder=tmp_path / "run") as rehearsed:
        _is_measured_without_a_stack(Stack(rehearsed.rehearsal), case)


def _is_measured_without_a_stack(stack: Stack, case: Case) -> None:
    stack.settings(validation={"mode": "off"}, **({"networkOperator": case.operator} if case.operator else {}))
    up = stack.up()
    assert up.succeeded, up.said
    if "all-reduce" in case.kinds:  # without a validation an update does not wait for GPUs
        eventually(lambda: all(map(has_gpus, stack.nodes(agentpool=case.pool))), seconds=120)
    before = everything(stack)
    if case.choose:
        refused = command(stack, "validate", "--pool", case.pool, code=2).stderr
        assert "there are several ways" in refused
        assert case.mode in refused
    (pool,) = validate(stack, "--pool", case.pool, *case.choose, code=0)["pools"].values()
    known = pool["without_stack"]
    assert (pool["verdict"], pool["left_out"]) == ("pass", [])
    assert (known["mode"], known["rdma_resource"]) == (case.mode, case.resource)
    assert case.kinds <= set(pool["kinds"])
    assert (everything(stack), brought(stack)) == (before, set())
