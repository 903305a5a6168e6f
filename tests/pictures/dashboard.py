"""Draws docs/dashboard.png: the Grafana dashboard in a Grafana that runs, over six hours of metrics.

`python -m tests.pictures.dashboard http://127.0.0.1:3000`, the URL of a Grafana on this machine that needs no login
(GF_AUTH_ANONYMOUS_ENABLED=true, GF_AUTH_ANONYMOUS_ORG_ROLE=Admin) and that does not have a data source yet. prometheus,
promtool, chromium and pngquant are taken from the PATH (Debian's packages). The dashboard is the one that the component
declares.

Two nodes of a pool with eight HCAs and GPUs each: a job of matrix products, half an hour without one, and a job that
copies memory. Two hours before the end an HCA has symbol errors and trains to half its rate, and the next scheduled
check says so; an hour before the end a GPU has an Xid. The metrics of a GPU were recorded on an H200, with the labels
on a node of Kubernetes (tests/field_recordings/metrics.yaml); the rest, and the times, are made up.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from math import sin
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.request import Request, urlopen

from aks_infiniband.observability.dashboard import dashboard

from tests.unit.field_recordings.recordings import recordings

_PICTURE: Final = Path(__file__).parents[2] / "docs" / "dashboard.png"
_STEP: Final = 30
_SECONDS: Final = 6 * 3600 + 900
"""The time that the dashboard shows, and before it the time for its first rates."""
_FULL: Final = 5e10
"""Bytes a second of NDR."""
_PROMETHEUS: Final = "127.0.0.1:19090"
_SIZE: Final = "1500,2860"
"""Pixels: as high as the dashboard."""
_NODES: Final = [f"aks-ndh200-31415926-vmss00000{number}" for number in (0, 1)]
_PHASES: Final = {each["phase"]: each for each in recordings()["h200-second-by-second"]["figures"]}
_CHECKED: Final = 379.96e9 / 8
"""ib_write_bw between two ND96isr_H200_v5, in bytes a second (tests/field_recordings/measurements.yaml)."""
_BAD: Final = (1, 3)
"""The node and the HCA."""


def samples(at: float, left: float) -> Iterator[tuple[str, dict[str, Any], float]]:
    """Metric, labels and value, with `left` seconds to go."""
    run = _SECONDS - left
    late = max(0.0, 7200 - left)
    found = left + run % 3600 < 7200  # by the check, which is made each hour
    phase = "memory" if left <= 9000 else "idle" if left < 10800 else "matrix"
    worked = run - min(1800, max(0, 10800 - left))
    for node, name in enumerate(_NODES):
        hcas = {"job": "aks-infiniband-hcas", "pool": "ndh200", "node": name}
        check = {"job": "aks-infiniband-light-check", "pool": "ndh200", "node": name}
        yield "aks_infiniband_expected_hcas", hcas, 8
        yield "aks_infiniband_expected_rate_bytes_per_second", hcas, _FULL
        yield "aks_infiniband_light_check_node_healthy", check, 0 if node == _BAD[0] and found else 1
        yield "aks_infiniband_light_check_node_checked_timestamp_seconds", check, at - run % 3600
        for place in range(8):
            slow = (node, place) == _BAD and late > 0
            port = {**hcas, "device": f"mlx5_{place}", "port": "1"}
            moved = 3e10 * worked + 1e12 * sin(worked / 300 + place) - (1e10 * late if slow else 0)
            yield "node_infiniband_state_id", port, 4
            yield "node_infiniband_rate_bytes_per_second", port, _FULL / 2 if slow else _FULL
            yield "node_infiniband_port_data_received_bytes_total", port, 1e14 + moved
            yield "node_infiniband_port_data_transmitted_bytes_total", port, 1e14 + moved * 0.98
            yield "node_infiniband_port_transmit_wait_total", port, 4e4 * run + (9e5 * late if slow else 0)
            errors = late / 40 if (node, place) == _BAD else 0
            yield "node_infiniband_symbol_error_total", port, errors // 1
            yield "node_infiniband_port_errors_received_total", port, 0
            yield "node_infiniband_link_downed_total", port, 1 if slow else 0
            device = {**check, "device": f"mlx5_{place}"}
            wrote = _CHECKED / 2 if slow and found else _CHECKED - 1e8 * place
            yield "aks_infiniband_light_check_write_bandwidth_bytes_per_second", device, wrote
            yield from _gpu(name, place, phase, int(run) // _STEP, xid=node == 1 and place == 5 and left < 3600)
        grown = 60 if node == _BAD[0] and found else 0
        device = {**check, "device": "mlx5_3", "counter": "symbol_error"}
        yield "aks_infiniband_light_check_errors", device, grown


def _gpu(node: str, gpu: int, phase: str, turn: int, *, xid: bool) -> Iterator[tuple[str, dict[str, Any], float]]:
    """A GPU at a time: each shows another second of the phase than its neighbours."""
    recorded = _PHASES[phase]
    second = (turn + 3 * gpu) % len(recorded["watts"])
    labels = gpu_labels(node, gpu, pod=None if phase == "idle" else f"{phase}-0")
    yield "DCGM_FI_DEV_GPU_UTIL", labels, recorded["utilization"][second]
    yield "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", labels, recorded["tensor"] / 100
    yield "DCGM_FI_DEV_FB_USED", labels, recorded["memory_mib"][second]
    yield "DCGM_FI_DEV_POWER_USAGE", labels, recorded["watts"][second]
    yield "DCGM_FI_DEV_GPU_TEMP", labels, recorded["celsius"][second]
    yield "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", labels, 1 if xid else 0
    if xid:
        yield "DCGM_FI_DEV_XID_ERRORS", {**labels, "err_code": 48, "err_msg": "Double Bit ECC Error"}, 48


def gpu_labels(node: str, gpu: int, *, pod: str | None) -> dict[str, Any]:
    """Labels of a GPU's figures: the monitor's, the exporter's, and those of the pod that has the GPU."""
    named = {"gpu": gpu, "UUID": f"GPU-{node[-1]}{gpu}", "pci_bus_id": f"00000000:{gpu + 1:02}:00.0"}
    known = {"device": f"nvidia{gpu}", "modelName": "NVIDIA H200", "DCGM_FI_DRIVER_VERSION": "580.159.04"}
    labels = {"job": "aks-infiniband-gpus", "node": node, **named, **known, "Hostname": node}
    return labels if pod is None else {**labels, "container": "main", "namespace": "ml", "pod": pod, "pod_uid": ""}


def write_blocks(folder: Path) -> None:
    """Prometheus' database of the time up to now."""
    end = time.time() // _STEP * _STEP
    by_metric: dict[str, list[str]] = {}
    for left in range(_SECONDS, -1, -_STEP):
        at = end - left
        for metric, labels, value in samples(at, left):
            text = ",".join(f'{key}="{given}"' for key, given in labels.items())
            by_metric.setdefault(metric, []).append(f"{metric}{{{text}}} {value:.10g} {at:.0f}")
    lines = [line for metric, found in by_metric.items() for line in (f"# TYPE {metric} unknown", *found)]
    (folder / "metrics").write_text("\n".join([*lines, "# EOF\n"]), encoding="utf-8")
    (folder / "prometheus.yml").write_text("{}")
    make = ["promtool", "tsdb", "create-blocks-from", "openmetrics"]
    subprocess.run([*make, folder / "metrics", folder / "data"], check=True, stdout=subprocess.DEVNULL)


def tell(grafana: str, path: str, document: dict[str, Any]) -> None:
    """POST to Grafana's API."""
    given = Request(f"{grafana}/api/{path}", json.dumps(document).encode(), {"Content-Type": "application/json"})
    with urlopen(given, timeout=60):
        return


def draw(grafana: str, folder: Path) -> None:
    """The picture, as a browser shows the dashboard."""
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking"]
    options += ["--disable-component-update", "--disable-sync", "--no-first-run"]
    # Milliseconds: a minute after the first time Grafana reads everything again, and shows that it does.
    options += ["--virtual-time-budget=45000"]
    options += [f"--user-data-dir={folder}/browser", f"--window-size={_SIZE}", f"--screenshot={_PICTURE}"]
    page = f"{grafana}/d/aks-infiniband?theme=light"
    subprocess.run(["chromium", *options, page], check=True, timeout=300)
    subprocess.run(["pngquant", "--force", "--ext=.png", "128", _PICTURE], check=True)


def main(grafana: str) -> None:
    with TemporaryDirectory() as made:
        folder = Path(made)
        write_blocks(folder)
        flags = [f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
        flags += [f"--web.listen-address={_PROMETHEUS}", "--storage.tsdb.retention.time=1d"]
        prometheus = subprocess.Popen(["prometheus", *flags])
        try:
            source = {"name": "Prometheus", "type": "prometheus", "access": "proxy", "isDefault": True}
            interval = {"timeInterval": f"{_STEP}s"}
            tell(grafana, "datasources", {**source, "url": f"http://{_PROMETHEUS}", "jsonData": interval})
            tell(grafana, "dashboards/db", {"dashboard": json.loads(dashboard()), "overwrite": True})
            draw(grafana, folder)
        finally:
            prometheus.terminate()
            prometheus.wait()


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"))
