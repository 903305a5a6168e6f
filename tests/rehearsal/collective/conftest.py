"""Simulated machines as folders, and the collective payload started on each as a validation pod starts it."""

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.workload.environment import nccl_environment

from rehearsal.faults import machine_faults
from rehearsal.machines.hardware.hardware_faults import faulty
from rehearsal.machines.hardware.model import Hardware, hardware_of
from rehearsal.machines.hardware.sysfs import dev_files, sys_files, write_files

ROOT = Path(__file__).resolve().parents[3]
PAYLOAD = ROOT / "components" / "aks_infiniband" / "validation"
LIBRARIES = ROOT / "rehearsal" / "machines" / "lib"
SIZE = "Standard_ND96isr_H100_v5"
PLAN = {"iterations": 20, "warmup": 5, "seconds": 30, "size_seconds": 5, "operation_seconds": 8}


@dataclass(frozen=True)
class Machines:
    """Machines of a pool, two unless more are named, each with a pod that holds some of its GPUs."""

    run: Path
    names: tuple[str, ...] = ("aks-p-0", "aks-p-1")

    def fault(self, *faults: dict[str, Any]) -> None:
        """Set the faults; before the machines are made."""
        machine_faults.write(self.run, list(faults))

    def hardware(self, name: str) -> Hardware:
        return faulty(hardware_of(size=SIZE, machine=name, fabric="f"), name, self.run)

    def hcas(self, name: str) -> tuple[str, ...]:
        """The names of a machine's InfiniBand devices."""
        return tuple(device.name for device in self.hardware(name).hcas)

    def make(
        self, *, gpus: int, modules: tuple[str, ...] = ("nvidia", "nvidia_peermem"), ethernet: bool = False
    ) -> None:
        """Their files, as the machines' part of a rehearsal writes them.

        ethernet: whether the pods hold the Ethernet device too, as those that mount the machine's /dev/infiniband.
        """
        for name in self.names:
            hardware = self.hardware(name)
            write_files(self.run / name / "sys", sys_files(hardware, modules))
            held = hardware.rdma_devices if ethernet else hardware.hcas
            there = range(min(gpus, len(hardware.gpus)))
            nodes = dev_files(rdma=held, gpus=there, modules=modules)
            write_files(self.run / name / "pod" / "dev", dict.fromkeys(nodes, ""))

    def address(self, name: str) -> str:
        """Address of a machine's pod."""
        return f"127.0.0.{self.names.index(name) + 1}"

    def environment(self, name: str) -> dict[str, str]:
        """The environment of a container on a machine."""
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{PAYLOAD}:{LIBRARIES}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "AKS_INFINIBAND_REHEARSAL": str(self.run),
            "REHEARSAL_NODE": name,
            "REHEARSAL_POD_IP": self.address(name),
            "REHEARSAL_MACHINE": str(self.run / name),
            "REHEARSAL_CONTAINER": str(self.run / name / "pod"),
            **nccl_environment(),
        }

    def all_reduce(
        self,
        sizes: list[int],
        *,
        gpus: int = 2,
        tuning: str = "ring",
        late_seconds: float = 0.0,
    ) -> dict[str, Any]:
        """One run over both machines; late_seconds: how much later the second pod comes to it."""
        collective, runs = map(importlib.import_module, ("payload.collective.part", "payload.collective.results"))
        where = self.meeting_point()

        def measure(rank: int) -> Any:
            name = self.names[rank]
            time.sleep(late_seconds * rank)
            return collective.measure(
                collective.Place(name, rank, len(self.names), gpus, where, self.hcas(name)),
                tuning=tuning,
                plan={**PLAN, "sizes": sizes},
                folder=self.run / name / "scratch",
                environment=self.environment(name),
            )

        with ThreadPoolExecutor(len(self.names)) as pods:
            entries = list(pods.map(measure, range(len(self.names))))
        run: dict[str, Any] = runs.merged(
            entries,
            tuning=tuning,
            ranks_per_node=gpus,
            addresses={name: self.address(name) for name in self.names},
        )
        return run

    def gpus(self, plan: Any) -> list[Any]:
        """The checks of all GPUs of all machines, which are loaded at once."""
        part, judge = map(importlib.import_module, ("payload.gpus.part", "payload.gpus.judge"))

        def measure(name: str) -> Any:
            place = part.Place(name, self.run / name / "sys", self.run / name / "scratch", self.environment(name))
            return part.measure(place, plan)

        with ThreadPoolExecutor(len(self.names)) as pods:
            found = list(pods.map(measure, self.names))
        checks: list[Any] = judge.judge_gpus([found], plan, self.names)
        return checks

    def meeting_point(self) -> str:
        """The meeting point of the ranks that the pod of the first machine makes."""
        script = "from payload.collective.part import meeting_point; print(meeting_point())"
        command = [sys.executable, "-c", script]
        environment = self.environment(self.names[0])
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machines]:
    monkeypatch.syspath_prepend(str(PAYLOAD))
    yield Machines(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "payload"]:
        del sys.modules[name]
