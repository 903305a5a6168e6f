"""The RDMA tools run on the CPUs next to their HCA."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.validation.payload.look.kernel import near_cpus
from aks_infiniband.validation.payload.programs.clients import Limits
from aks_infiniband.validation.payload.programs.ports import free_ports
from aks_infiniband.validation.payload.rdma import tools

from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.hardware.sysfs import sys_files, write_files


@pytest.fixture
def sys_root(tmp_path: Path) -> Path:
    hardware = hardware_of(size="Standard_ND96isr_H100_v5", machine="node-0", fabric="one")
    write_files(tmp_path / "sys", sys_files(hardware, ()))
    return tmp_path / "sys"


@pytest.mark.field_report("R9")
def test_the_cpus_beside_an_hca_are_those_of_its_numa_node_that_the_pod_may_use(
    sys_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(40, 60)))
    assert near_cpus(sys_root, "mlx5_0") == set(range(40, 48))
    assert near_cpus(sys_root, "mlx5_7") == set(range(48, 60))
    (sys_root / "devices/system/node/node1/cpulist").write_text("0-3,50,52-53\n")
    assert near_cpus(sys_root, "mlx5_7") == {50, 52, 53}


def test_where_the_kernel_names_no_node_or_the_pod_has_none_of_its_cpus_nothing_is_bound(
    sys_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    assert near_cpus(sys_root, "mlx5_7") == set()
    (sys_root / "class/infiniband/mlx5_0/device/numa_node").write_text("-1\n")
    assert near_cpus(sys_root, "mlx5_0") == set()
    assert near_cpus(sys_root, "mlx5_99") == set()


@pytest.mark.field_report("R9")
@pytest.mark.parametrize("near", ["first", "last", "none"])
def test_server_and_client_of_a_pair_run_on_the_cpus_of_their_hcas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, near: str
) -> None:
    tool = tmp_path / "ib_read_lat"
    program = f"import os, sys; open(f'{tmp_path}/{{sys.argv[2]}}', 'w').write(str(sorted(os.sched_getaffinity(0))))"
    tool.write_text(f"#!{sys.executable}\n{program}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(tools, "figures_of", lambda *_: {"rdma-read-latency": 1.0})
    allowed = sorted(os.sched_getaffinity(0))
    cpus: dict[str, list[int]] = {"first": allowed[:1], "last": allowed[-1:], "none": []}
    pairs = [("n0", "client", "n0", "server")]
    step: Any = {"kind": "read-latency", "pairs": pairs, "turn": 0, "seconds": 60}
    members: Any = {"n0": {"port": free_ports(), "address": "127.0.0.1", "devices": ["client", "server"]}}
    place = tools.Place("n0", tmp_path, Limits(60, 60), lambda device: cpus[near] if device == "client" else ())
    (answer,) = tools.carry_out(step, members, {"n0": {"client": "1", "server": "1"}}, place)
    assert answer["error"] is None, answer
    found = {name: json.loads((tmp_path / name).read_text()) for name in ("client", "server")}
    assert found == {"client": cpus[near] or allowed, "server": allowed}
