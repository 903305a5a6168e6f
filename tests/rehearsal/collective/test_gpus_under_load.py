"""The GPUs of machines under load, by the payload's own processes on simulated libraries: what is found, and named."""

from typing import Any

import pytest

from tests.rehearsal.collective.conftest import Machines

PLAN: Any = {"count": 8, "seconds": 2.0}


def checks_of(machines: Machines) -> list[Any]:
    """The judgement of all GPUs of all machines."""
    machines.make(gpus=8)
    return machines.gpus(PLAN)


def problems(machines: Machines) -> list[tuple[str, str, str | None, str | None]]:
    found = [check for check in checks_of(machines) if check["verdict"] not in ("pass", "not judged")]
    return [(check["check"], check["verdict"], check["node"], check["device"]) for check in found]


def test_healthy_gpus_pass_and_their_figures_have_a_spread_beside_them(machines: Machines) -> None:
    checks = {check["check"]: check for check in checks_of(machines)}
    assert {check["verdict"] for check in checks.values()} == {"pass"}, checks
    assert "deviation" in checks["gpu-rate"]["measured"]


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        ({"fault": "throttled-gpu", "gpu": 5, "factor": 0.5}, "gpu-throttling"),
        ({"fault": "slow-gpu", "gpu": 5, "factor": 0.8}, "gpu-rate"),
        ({"fault": "half-lanes", "gpu": 5}, "gpu-pcie"),
        ({"fault": "half-lanes", "gpu": 5}, "gpu-from-host"),
        ({"fault": "gpu-memory", "gpu": 5}, "gpu-memory"),
        ({"fault": "gpu-error", "gpu": 5, "error": 214}, "gpu-load"),
        ({"fault": "missing-gpu", "gpu": 5}, "gpu-count"),
    ],
)
def test_one_gpu_of_16_is_named_by_node_and_address(machines: Machines, fault: dict[str, Any], check: str) -> None:
    machines.fault({**fault, "node": "aks-p-1"})
    found = problems(machines)
    assert {(node, device) for _, _, node, device in found if device} == {
        ("aks-p-1", "GPU at 000a:00:00.0" if check == "gpu-count" else "GPU 5 at 000a:00:00.0")
    }
    assert (check, "fail") in {entry[:2] for entry in found}


def test_a_gpu_that_others_use_is_named_for_that_alone(machines: Machines) -> None:
    machines.fault({"fault": "other-work", "gpu": 5, "factor": 0.45, "node": "aks-p-1"})
    assert [entry for entry in problems(machines) if entry[2]] == [
        ("gpu-other-work", "not measured", "aks-p-1", "GPU 5 at 000a:00:00.0")
    ]
