"""Simulated HCAs that share a PCIe link have less while another of them is used, and all of it alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rehearsal.faults import machine_faults
from rehearsal.machines.rdma_tools import sharing
from rehearsal.machines.rdma_tools.machine import Machine
from rehearsal.tools.paths import PROJECT

PROGRAM = """
import sys
from rehearsal.machines.rdma_tools.machine import Machine
from rehearsal.machines.rdma_tools.sharing import share
print(share(Machine(), sys.argv[1], for_a_time=sys.argv[2] == "True"), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    names = {"AKS_INFINIBAND_REHEARSAL": tmp_path, "REHEARSAL_MACHINE": tmp_path / "n0", "REHEARSAL_NODE": "n0"}
    for name, value in {**names, "REHEARSAL_POD_IP": "10.0.0.1", "REHEARSAL_CONTAINER": tmp_path}.items():
        monkeypatch.setenv(name, str(value))
    machine_faults.write(tmp_path, [{"fault": "shared-pcie", "device": "mlx5_[01]", "factor": 0.5}])
    return Machine()


def use(device: str, *, for_a_time: bool) -> subprocess.Popen[str]:
    """A tool of this machine, which uses the HCA until its input is closed."""
    command = [sys.executable, "-c", PROGRAM, device, str(for_a_time)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=PROJECT, env=dict(os.environ)
    )


def ended(tool: subprocess.Popen[str]) -> float:
    return float(tool.communicate(timeout=200)[0])


def test_two_that_are_used_at_once_have_less_though_one_is_gone_when_the_other_looks(machine: Machine) -> None:
    tool = use("mlx5_0", for_a_time=True)
    assert sharing.share(machine, "mlx5_1", for_a_time=True) == 0.5
    assert ended(tool) == 0.5


def test_one_alone_has_all_of_it_whatever_was_used_before(machine: Machine) -> None:
    tools = [use(f"mlx5_{n}", for_a_time=True) for n in (0, 1)]
    assert [ended(tool) for tool in tools] == [0.5, 0.5]
    assert ended(use("mlx5_0", for_a_time=False)) == 1.0
    assert ended(use("mlx5_1", for_a_time=False)) == 1.0


def test_server_and_client_of_one_hca_do_not_disturb_each_other(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "_PATIENCE_SECONDS", 0)
    assert sharing.share(machine, "mlx5_0", for_a_time=True) == 1.0
    assert sharing.share(machine, "mlx5_0", for_a_time=True) == 1.0


def test_an_hca_that_shares_nothing_waits_for_nobody(machine: Machine) -> None:
    assert sharing.share(machine, "mlx5_2", for_a_time=True) == 1.0
