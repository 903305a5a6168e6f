"""The cost of a rehearsal of many machines: from nothing to the end of `up`, the whole data centre with it.

The validation is not part of it: on simulated machines it is real processes, and `make test-all` measures it with 100.
"""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from lightkube import Client, KubeConfig
from lightkube.resources.core_v1 import Node

from benchmark.program import project
from benchmark.scale.engine import run_command
from benchmark.scale.measuring import Usage, descendants, measured
from rehearsal.azure.subscription import DEFAULT_FILE
from rehearsal.control_plane import RunFolder
from rehearsal.session import Rehearsal

_SIZE: Final = "Standard_HB120rs_v3"
_LARGEST_POOL: Final = 100
_RESOURCE: Final = "rdma/shared_ib"
_PAUSE_SECONDS: Final = 2.0
_SPEED: Final = 10.0
"""So slow that `up` awaits 1,000 machines on two cores, as its waits end by the simulated clock; for fewer the same, so
that what machines cost can be compared."""
_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Cost of so many machines. parts: seconds of the processor, by the program that took most of them."""

    machines: int
    usage: Usage
    parts: dict[str, float]


def costs(machines: Sequence[int], folder: Path) -> Iterator[Cost]:
    """Measure, for each of these numbers of machines."""
    for number in machines:
        yield _cost(number, folder / str(number))


def _cost(machines: int, folder: Path) -> Cost:
    folder.mkdir(parents=True)
    rehearsal = Rehearsal(
        project=_project(folder / "project", machines),
        stack="dev",
        run=RunFolder.at(folder / "run"),
        speed=_SPEED,
        subscription=_subscription(folder / "subscription.yaml"),
    )
    with measured(whole=True) as usage, rehearsal.data_centre():
        run_command(rehearsal.engine(), "up")
        _await_drivers(rehearsal.run, machines)
        parts = _parts()
    return Cost(machines=machines, usage=usage, parts=parts)


def _await_drivers(run: RunFolder, machines: int) -> None:
    """Wait until every machine offers RDMA: with the validation off, `up` does not wait for that."""
    client = Client(config=KubeConfig.from_file(run.kubeconfig), trust_env=False)

    def offers() -> int:
        nodes = (node.to_dict() for node in client.list(Node))
        return sum(_RESOURCE in node["status"].get("allocatable", {}) for node in nodes)

    while offers() < machines:
        time.sleep(_PAUSE_SECONDS)


def _project(folder: Path, machines: int) -> Path:
    folder.mkdir()
    file = project(folder, 1) / "Pulumi.dev.yaml"
    stack = yaml.safe_load(file.read_text())
    pools = [min(_LARGEST_POOL, machines - begin) for begin in range(0, machines, _LARGEST_POOL)]
    stack["config"]["aks-infiniband:pools"] = [
        {"name": f"pool{number:03}", "vmSize": _SIZE, "count": count} for number, count in enumerate(pools)
    ]
    # A /24 for each machine.
    cluster = stack["config"].setdefault("aks-infiniband:cluster", {})
    cluster.setdefault("network", {})["podCidr"] = "10.128.0.0/12"
    stack["config"]["aks-infiniband:validation"] = {"mode": "off"}
    file.write_text(yaml.safe_dump(stack))
    return folder


def _subscription(file: Path) -> Path:
    """The rehearsal's own, with quota for all machines."""
    subscription: Any = yaml.safe_load(DEFAULT_FILE.read_text())
    subscription["regionalVcpus"] = subscription["series"]["HBv3"]["vcpus"] = 1_000_000
    file.write_text(yaml.safe_dump(subscription))
    return file


def _parts() -> dict[str, float]:
    """The time of every process that still runs, by its program."""
    seconds: dict[str, float] = {}
    for process in descendants(os.getpid()):
        try:
            command = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace").split("\0")
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        name = next((word for word in command if word.startswith("rehearsal.")), Path(command[0]).name)
        seconds[name] = seconds.get(name, 0) + sum(map(int, fields[11:15])) / _TICKS
    return {name: spent for name, spent in sorted(seconds.items(), key=lambda part: -part[1]) if spent > 1}
