"""The real exporter, started as the DaemonSet starts it, reads simulated machines, and the right alerts fire."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.tables import table
from aks_infiniband.observability.documents import expected, exporter_spec
from aks_infiniband.resources.registry import SOURCES

from rehearsal.machines.hardware.model import Hardware, hardware_of
from rehearsal.machines.hardware.sysfs import sys_files, write_files
from tests.some_pools import H100, pool

ALERTS = Path(__file__).parents[3] / "components/aks_infiniband/observability/alerts.yaml"
LABELS = 'job="aks-infiniband-hcas", node="n0", pool="nd"'
"""The labels that the monitor puts on every metric."""

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]


@dataclass(frozen=True)
class Exporter:
    """The built program, and a folder for what it reads."""

    program: Path
    folder: Path

    def says(self, machine: Hardware) -> dict[str, str]:
        """Its InfiniBand metrics of a machine: values by series, with the monitor's labels."""
        watched = pool(machine.size, "nd")
        write_files(self.folder / "sys", sys_files(machine, ["mlx5_ib"]))
        write_files(self.folder / "expected", expected([watched]))
        (container,) = exporter_spec(watched, SOURCES)["template"]["spec"]["containers"]
        places = {"/host/sys": f"{self.folder}/sys", "/expected": f"{self.folder}/expected", ":9100": "127.0.0.1:0"}
        arguments = [
            f"{key}={places.get(value, value)}" if value else key
            for key, _, value in (argument.partition("=") for argument in container["args"])
        ]
        with self._running(arguments) as address, urlopen(f"http://{address}/metrics", timeout=60) as answer:
            lines = answer.read().decode().splitlines()
        return dict(series(line) for line in lines if re.match("node_infiniband_|aks_infiniband_", line))

    @contextmanager
    def _running(self, arguments: list[str]) -> Iterator[str]:
        """Its address, which it logs once it listens."""
        started = subprocess.Popen([self.program, *arguments], stderr=subprocess.PIPE, text=True)
        assert started.stderr is not None
        try:
            found = (re.search(r'msg="Listening on" address=(\S+)', line) for line in started.stderr)
            yield next(match[1] for match in found if match)
        finally:
            started.kill()
            started.communicate()


def series(line: str) -> tuple[str, str]:
    name, _, value = line.rpartition(" ")
    metric, _, labels = name.rstrip("}").partition("{")
    return f"{metric}{{{', '.join(filter(None, (labels, LABELS)))}}}", value


@pytest.fixture
def exporter(node_exporter: Path, tmp_path: Path) -> Exporter:
    return Exporter(node_exporter, tmp_path)


def machine(size: str = H100) -> Hardware:
    return hardware_of(size=size, machine="n0", fabric="f")


def first_hca(hardware: Hardware, **changed: object) -> Hardware:
    """The machine with another first HCA."""
    first, *others = hardware.rdma_devices
    return replace(hardware, rdma_devices=(replace(first, **changed), *others))  # type: ignore[arg-type]


def firing(promtool: Path, folder: Path, samples: dict[str, str]) -> set[str]:
    """The alerts that fire if these samples stay for half an hour: those that a test without any finds."""
    inputs = [{"series": name, "values": f"{value}x30"} for name, value in samples.items()]
    asked = {"expr": 'count by (alertname) (ALERTS{alertstate="firing"})', "eval_time": "30m", "exp_samples": []}
    tests = [{"interval": "1m", "input_series": inputs, "promql_expr_test": [asked]}]
    file = folder / "tests.yaml"
    file.write_text(yaml.safe_dump({"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": tests}))
    ended = subprocess.run([promtool, "test", "rules", file], capture_output=True, text=True, check=False)
    found = set(re.findall(r'alertname="(\w+)"', ended.stdout + ended.stderr))
    assert bool(found) == (ended.returncode != 0), ended.stdout + ended.stderr
    return found


@pytest.mark.parametrize("size", {size.series: size.name for size in SIZES.values()}.values())
def test_every_size_gives_every_metric_of_the_table_and_no_alert(
    exporter: Exporter, promtool: Path, tmp_path: Path, size: str
) -> None:
    said = exporter.says(machine(size))
    metrics = table("aks_infiniband.observability", "metrics.yaml")["metrics"]
    wanted = {name for name, metric in metrics.items() if metric["source"] in ("exporter", "expected")}
    assert wanted <= {name.partition("{")[0] for name in said}
    assert firing(promtool, tmp_path, said) == set()


def test_a_port_that_is_down_raises_both_alerts(exporter: Exporter, promtool: Path, tmp_path: Path) -> None:
    said = exporter.says(first_hca(machine(), link_up=False))
    assert firing(promtool, tmp_path, said) == {"InfinibandLinkDown", "InfinibandBelowFullRate"}


def test_a_port_at_half_its_rate_raises_one(exporter: Exporter, promtool: Path, tmp_path: Path) -> None:
    said = exporter.says(first_hca(machine(), rate_gbps=200))
    assert firing(promtool, tmp_path, said) == {"InfinibandBelowFullRate"}


def test_an_hca_that_is_missing_raises_one(exporter: Exporter, promtool: Path, tmp_path: Path) -> None:
    whole = machine()
    said = exporter.says(replace(whole, rdma_devices=whole.rdma_devices[1:]))
    assert firing(promtool, tmp_path, said) == {"InfinibandBelowFullRate"}
