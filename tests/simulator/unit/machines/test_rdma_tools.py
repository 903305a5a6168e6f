"""The simulated RDMA tools' view of a machine, read and judged by the validation's own code."""

import io
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.facts.baselines.choice import thresholds
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.validation.payload.look.kernel import near_cpus
from aks_infiniband.validation.payload.rdma.tools import command, figures_of
from aks_infiniband.validation.payload.say.expectations import verdict_on

from rehearsal.faults import machine_faults
from rehearsal.machines.rdma_tools.machine import CPUS
from tests.unit.field_recordings.machines import PROGRAMS, enter
from tests.unit.field_recordings.recordings import recordings

H100 = "Standard_ND96isr_H100_v5"
PROGRAM = {"write-bandwidth": "ib_write_bw", "read-latency": "ib_read_lat"}
Measure = Callable[..., dict[str, float]]
"""Measures on a machine of a size, bound as the validation binds its tools, or not: figures by name."""


class ByThread(io.TextIOBase):
    """Keeps what each thread prints apart: client and server print at once, and their lines would run together."""

    def __init__(self) -> None:
        self.said = dict[int, str]()

    def write(self, text: str) -> int:
        here = threading.get_ident()
        self.said[here] = self.said.get(here, "") + text
        return len(text)


@pytest.fixture
def measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Measure:
    def run(size: str, kind: str, *faults: Any, device: str = "mlx5_0", bound: bool = True) -> dict[str, float]:
        sys_root = enter(tmp_path, size, monkeypatch)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(SIZES[size].vcpus)))
        if bound:
            monkeypatch.setenv(CPUS, ",".join(map(str, near_cpus(sys_root, device))))
        else:
            monkeypatch.delenv(CPUS, raising=False)
        machine_faults.write(tmp_path, list(faults))
        tool = PROGRAMS[PROGRAM[kind]]
        printed = ByThread()
        monkeypatch.setattr(sys, "stdout", printed)
        server = threading.Thread(target=tool, args=(command(kind, device, 18515)[1:],), daemon=True)
        server.start()
        listens, deadline = tmp_path / "machines/wire/10.244.0.7_18515", time.monotonic() + 60
        while not listens.exists() and time.monotonic() < deadline:
            server.join(0.02)
        code = tool(command(kind, device, 18515, "10.244.0.7")[1:])
        server.join(60)
        assert code == 0, printed.said
        return figures_of(kind, printed.said[threading.get_ident()])

    return run


@pytest.mark.field_report("R9")
def test_a_tool_that_runs_on_another_numa_node_than_its_hca_measures_less_than_healthy_machines_show(
    measure: Measure,
) -> None:
    bound: Any
    (bound,) = thresholds(SIZES[H100], ["rdma-write-bandwidth"]).values()
    verdicts = {}
    for device, bound_to_its_node in (("mlx5_0", True), ("mlx5_0", False), ("mlx5_7", True), ("mlx5_7", False)):
        (figure,) = measure(H100, "write-bandwidth", device=device, bound=bound_to_its_node).values()
        verdicts[device, bound_to_its_node] = verdict_on(figure, bound)
    assert {tool for tool, verdict in verdicts.items() if verdict != "pass"} == {("mlx5_7", False)}
    assert verdicts["mlx5_7", False] == "warn"


FLOORS_BEFORE = {
    "Standard_ND96isr_H100_v5": 380.0,
    "Standard_ND96isr_H200_v5": 380.0,
    "Standard_ND96amsr_A100_v4": 190.0,
}
"""Gb/s, from which on a machine passed before Azure's own runs were known."""


@pytest.mark.field_report("R8")
@pytest.mark.parametrize(
    "run", recordings()["accepted-by-azure"]["figures"], ids=lambda run: f"{run['size']}-{run['region']}"
)
def test_machines_that_show_what_azures_own_showed_pass_and_fell_short_of_what_was_asked_before(
    measure: Measure, run: dict[str, Any]
) -> None:
    size, bandwidth = SIZES[run["size"]], run["rdma-write-bandwidth"]
    slow = {"fault": "slow", "factor": bandwidth / (0.98275 * size.infiniband.rate_gbps)}
    late = {"fault": "latency", "factor": run.get("rdma-read-latency", 5.5) / 5.5}
    limits: Any = thresholds(size, ["rdma-write-bandwidth", "rdma-read-latency"])
    values = {**measure(size.name, "write-bandwidth", slow, late), **measure(size.name, "read-latency", slow, late)}
    assert values == pytest.approx(
        {"rdma-read-latency": 5.5, **{name: run[name] for name in run if name in limits}}, abs=0.01
    )
    assert "fail" not in {verdict_on(value, limits[name]) for name, value in values.items()}
    before: Any = {**limits["rdma-write-bandwidth"], "fail": FLOORS_BEFORE[size.name]}
    assert verdict_on(values["rdma-write-bandwidth"], before) == "fail"
