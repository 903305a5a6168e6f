"""One `up` of 16 machines with 8 HCAs and 8 GPUs each names every machine that the field calls bad, and its device."""

from typing import Any, Final

import pytest
import yaml

from rehearsal.outcome.reports import left_in

from .conftest import Stack

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]
STACK = "dev"
FAULTS: Final[tuple[tuple[int, dict[str, Any], list[tuple[str, str | None]]], ...]] = (
    (2, {"name": "throttled-gpu", "gpu": 3, "factor": 0.6}, [("gpu-throttling", "GPU 3 at 0008:00:00.0")]),
    (4, {"name": "half-lanes", "gpu": 5}, [("gpu-pcie", "GPU 5 at 000a:00:00.0")]),
    (6, {"name": "slow", "factor": 351 / 400}, [("rdma-write-bandwidth", f"mlx5_{hca}") for hca in range(8)]),
    (8, {"name": "slow", "device": "mlx5_2", "factor": 321 / 400}, [("rdma-write-bandwidth", "mlx5_2")]),
    (8, {"name": "slow", "device": "mlx5_5", "factor": 321 / 400}, [("rdma-write-bandwidth", "mlx5_5")]),
    (10, {"name": "slow", "factor": 0.92}, [("all-reduce-pairs", None)]),
)
"""The machine's number, what is wrong with it, and the checks that fail for it, each with its device."""


def test_every_bad_machine_of_sixteen_is_named_with_its_device_and_no_good_one(stack: Stack) -> None:
    (pool,) = yaml.safe_load(stack.file.read_text())["config"]["aks-infiniband:pools"]
    stack.settings(pools=[{**pool, "count": 16}])
    for number, fault, _ in FAULTS:
        stack.fault(node=f"*{number:06x}", **fault)
    outcome = stack.up()
    assert not outcome.succeeded
    report = left_in(stack.kubeconfig())[pool["name"]]
    failed = [check for check in report["checks"] if check["verdict"] == "fail"]
    found = {(int(check["node"][-6:], 36), check["check"], check["device"]) for check in failed if check["node"]}
    wanted = {(number, *check) for number, _, checks in FAULTS for check in checks}
    assert found >= wanted, outcome.said
    assert {number for number, _, _ in found} == {number for number, _, _ in FAULTS}, outcome.said
