"""The validation's pods as processes on simulated machines, without a cluster: a small API, and the machines' files."""

import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aks_infiniband.facts.pool import Pool
from aks_infiniband.validation.pool_expectations import expectations
from aks_infiniband.validation.program import payload_files
from aks_infiniband.workload.environment import nccl_environment

from rehearsal.faults import machine_faults
from rehearsal.machines.hardware import beneath
from rehearsal.machines.hardware.hardware_faults import faulty
from rehearsal.machines.hardware.metadata import metadata_files
from rehearsal.machines.hardware.model import Hardware, hardware_of
from rehearsal.machines.hardware.sysfs import dev_files, sys_files, write_files
from rehearsal.machines.kubelet.container_start import link_sys
from tests.unit.validation.fake_api import FakeApi

MACHINES = Path(__file__).parents[3] / "rehearsal/machines"
BIN, LIBRARIES = MACHINES / "bin", MACHINES / "lib"
SYSTEM_PATH = "/usr/bin:/bin"
MODULES = frozenset({"ib_umad", "rdma_ucm", "ib_uverbs"})


@dataclass
class Pods:
    """One pod on each of a pool's machines; the interpreter is the one of the tests."""

    folder: Path
    pool: Pool
    api: FakeApi
    faults: list[dict[str, Any]] = field(default_factory=list)
    fabrics: Mapping[int, str] = field(default_factory=dict)
    changes: dict[str, Any] = field(default_factory=dict)
    """Changes of the expectations."""
    measure_seconds: float = 60.0
    """Far above what it takes on a busy machine. Up to 60 a tool may take 5 s, above that a twelfth."""
    run: str = "job-1"

    def node(self, rank: int) -> str:
        return f"node-{rank}"

    def address(self, rank: int) -> str:
        return f"10.244.0.{rank + 1}"

    def hardware(self, rank: int) -> Hardware:
        whole = hardware_of(
            size=self.pool.size.name,
            machine=self.node(rank),
            fabric=self.fabrics.get(rank, "one"),
            sizes={self.pool.size.name: self.pool.size},
        )
        return faulty(whole, self.node(rank), self.folder)

    def prepare(self) -> None:
        """The machines' files, the payload, and the ConfigMaps."""
        beneath.write_files(self.folder / "payload", payload_files())
        expected = {**expectations(self.pool), **self.changes}
        (self.folder / "expectations.json").write_text(json.dumps(expected))
        machine_faults.write(self.folder, self.faults)
        self.api.config_maps = {"report": {}}
        self.api.nodes = [{"metadata": {"name": self.node(rank), "labels": {}}, "status": {}} for rank in self.ranks]
        for rank in self.ranks:
            self._machine(rank)

    @property
    def ranks(self) -> range:
        return range(self.pool.node_count)

    def _machine(self, rank: int) -> None:
        hardware, root = self.hardware(rank), self.folder / self.node(rank)
        write_files(root / "sys", sys_files(hardware, modules=MODULES))
        gpus = [gpu.index for gpu in hardware.gpus]
        write_files(root / "dev", dict.fromkeys(dev_files(rdma=hardware.hcas, gpus=gpus, modules=MODULES), ""))
        size = self.pool.size.name
        write_files(root, metadata_files(size=size, machine=self.node(rank), faults=self.faults))
        limits = "Max locked memory         unlimited            unlimited            bytes     "
        write_files(root / "proc", {"self/limits": limits, "self/status": "CapEff:\t0000000000004000"})
        for network, kind in (("eth0", "1"), *((f"net{n}", "32") for n, _ in enumerate(self.pool.ipoib_networks, 1))):
            write_files(root / "sys/class/net" / network, {"type": kind})
        attached = [
            {"interface": f"net{n}", "ips": [f"192.168.{n}.{rank + 1}"]}
            for n, _ in enumerate(self.pool.ipoib_networks, 1)
        ]
        shutil.rmtree(root / "pod-sys", ignore_errors=True)
        link_sys(root / "pod-sys", root, {})
        (root / "pod-sys/class/net").symlink_to(root / "sys/class/net")
        (root / "network-status").write_text(json.dumps(attached))

    def start(self, rank: int, *, pod: str | None = None) -> subprocess.Popen[bytes]:
        """Start the pod of an index."""
        root = self.folder / self.node(rank)
        arguments = {
            "namespace": "ns",
            "report": "report",
            "expectations": self.folder / "expectations.json",
            "mode": "enforce",
            "poll-seconds": 0.05,
            "timeout-seconds": 60,
            "measure-seconds": self.measure_seconds,
            "scratch": root,
            "termination-log": root / "termination-log",
            "sys": root / "pod-sys",
            "counters": root / "sys/class/infiniband",
            "dev": root / "dev",
            "proc": root / "proc",
            "shm": "/",
            "metadata": (root / "metadata/instance/compute").as_uri(),
            "attachments": root / "network-status",
            "api": self.api.url,
        }
        environment = {
            "PATH": f"{BIN}:{Path(sys.executable).parent}:{SYSTEM_PATH}",
            "PYTHONPATH": f"{self.folder}:{LIBRARIES}",
            "JOB_UID": self.run,
            "JOB_COMPLETION_INDEX": str(rank),
            "NODE_NAME": self.node(rank),
            "POD_UID": pod or f"pod-{rank}",
            "POD_IP": self.address(rank),
            "AKS_INFINIBAND_REHEARSAL": str(self.folder),
            "REHEARSAL_NODE": self.node(rank),
            "REHEARSAL_POD_IP": self.address(rank),
            "REHEARSAL_MACHINE": str(root),
            "REHEARSAL_CONTAINER": str(root),
            **nccl_environment(),
        }
        command = [sys.executable, "-m", "payload.validate"]
        command += [part for key, value in arguments.items() for part in (f"--{key}", str(value))]
        with (root / "log").open("ab") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=self.folder)

    def all(self) -> tuple[int, str, dict[str, Any]]:
        """Run every pod to its end: exit code and message of index 0, and the report."""
        self.prepare()
        processes = [self.start(rank) for rank in self.ranks]
        return self.finish(processes)

    def finish(self, processes: list[subprocess.Popen[bytes]]) -> tuple[int, str, dict[str, Any]]:
        """Wait for the pods, the first of which is index 0."""
        try:
            for process in processes:
                process.wait(300)
        finally:
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
        message = (self.folder / self.node(0) / "termination-log").read_text()
        report = json.loads(self.api.texts("report").get("report.json.gz", "{}"))
        return processes[0].returncode, message, report

    def logs(self) -> str:
        """The output of the pods."""
        return "\n".join((self.folder / self.node(rank) / "log").read_text() for rank in self.ranks)


def failures(report: Mapping[str, Any]) -> list[tuple[str, str | None, str | None]]:
    """Check, node and device of everything that failed."""
    return [
        (check["check"], check["node"], check["device"]) for check in report["checks"] if check["verdict"] == "fail"
    ]
