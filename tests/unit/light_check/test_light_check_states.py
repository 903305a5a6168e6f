"""The scheduled check's metrics; tests/unit/validation/cases/state.yaml has its words on nodes."""

import gzip
import json
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.validation.payload.light_check import exporter
from aks_infiniband.validation.payload.light_check.state import KEY

from tests.unit.validation.cases.checking import BETWEEN, DOWN, SLOW, record, state


def report(pool: str) -> dict[str, Any]:
    found = {**state(DOWN, now=7, bandwidth={"mlx5_0": 392.0}), "errors": {"mlx5_0": {"symbol_error": 2}}}
    found["links"] = {"mlx5_0": {"up": False, "rate_gbps": 400.0}, "mlx5_1": {"up": True, "rate_gbps": None}}
    members = {"expected": 3, "present": 2, "gone": []}
    usual = {"schema_version": 1, "run": "uid", "finished": 8, "checks": []}
    return {**usual, "pool": pool, "members": members, "nodes": {"n0": found}}


@pytest.mark.parametrize("node", [None, {}, {"healthy": True}, {**report("a")["nodes"]["n0"], "links": {"x": 1}}])
def test_a_state_that_somebody_has_edited_takes_no_metric_of_the_others_away(node: Any) -> None:
    edited = report("a")
    edited["nodes"]["n1"] = node
    assert exporter.exposition([edited]) == exporter.exposition([report("a")])  # type: ignore[list-item]


def test_every_metric_is_in_prometheus_text_format_and_its_samples_stand_together() -> None:
    lines = exporter.exposition([report("a"), report("b")]).splitlines()  # type: ignore[list-item]
    families = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert families == [exporter.PREFIX + name for name in exporter.METRICS]
    family = ""
    for line in lines:
        family = line.split()[2] if line.startswith("#") else family
        assert line.startswith(("# HELP ", "# TYPE ", f"{family}{{"))
    prefix = "aks_infiniband_light_check_"
    port = 'pool="a",node="n0",device="mlx5_0"'
    assert {
        f'{prefix}finished_timestamp_seconds{{pool="a"}} 8',
        f'{prefix}nodes_expected{{pool="a"}} 3',
        f'{prefix}nodes_present{{pool="a"}} 2',
        f'{prefix}node_checked_timestamp_seconds{{pool="a",node="n0"}} 7',
        f'{prefix}node_healthy{{pool="a",node="n0"}} 0',
        f"{prefix}link_up{{{port}}} 0",
        f"{prefix}link_rate_bytes_per_second{{{port}}} 50000000000.0",
        f"{prefix}write_bandwidth_bytes_per_second{{{port}}} 49000000000.0",
        f'{prefix}errors{{{port},counter="symbol_error"}} 2',
    } <= set(lines)


def test_the_metrics_hear_what_a_command_has_measured_at_once() -> None:
    """A cordoned node is not idle for the check, so its own last word would stay what it was."""
    well: Any = report("a")
    well["nodes"]["n0"] = state(BETWEEN, now=7, bandwidth={"mlx5_0": 392.0})
    well["members"]["names"] = ["n0", "n1"]
    prefix = "aks_infiniband_light_check_"
    measured = prefix + 'machine_measured_timestamp_seconds{pool="a",node="%s",by="%s",verdict="%s"}'
    lines = exporter.exposition([well]).splitlines()
    assert prefix + 'node_healthy{pool="a",node="n0"} 1' in lines
    assert measured % ("n0", "light check", "pass") + " 7.0" in lines
    lines = exporter.exposition([well], record(SLOW)).splitlines()
    assert prefix + 'node_healthy{pool="a",node="n0"} 0' in lines
    assert measured % ("n0", "validate", "fail") + " 1795341600.0" in lines
    never_idle = record(SLOW).replace('"n0"', '"n1"')
    assert prefix + 'node_healthy{pool="a",node="n1"} 0' in exporter.exposition([well], never_idle)
    gone = record(SLOW).replace('"n0"', '"n9"')
    assert exporter.exposition([well], gone) == exporter.exposition([well])
    assert exporter.exposition([well], "{").count("node_healthy{") == 1, "what cannot be read takes no metric away"


def test_the_exporter_serves_the_mounted_reports_and_leaves_out_one_that_is_not_there_yet(tmp_path: Path) -> None:
    for name in ("a", "b", "broken"):
        (tmp_path / name).mkdir()
    (tmp_path / "a" / KEY).write_bytes(gzip.compress(json.dumps(report("a")).encode()))
    (tmp_path / "broken" / KEY).write_bytes(b"{}")
    kept = tmp_path / "record" / "machines" / "machines.json.gz"
    kept.parent.mkdir(parents=True)
    serving = exporter.server(tmp_path, tmp_path / "record", ("127.0.0.1", 0))
    threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True).start()
    try:
        address = f"http://127.0.0.1:{serving.server_port}"
        with urllib.request.urlopen(f"{address}/metrics") as answer:
            assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
            assert answer.read().decode() == exporter.exposition([report("a")])  # type: ignore[list-item]
        kept.write_bytes(gzip.compress(record(SLOW).encode()))
        with urllib.request.urlopen(f"{address}/metrics") as answer:
            assert answer.read().decode() == exporter.exposition([report("a")], record(SLOW))  # type: ignore[list-item]
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{address}/else")
    finally:
        serving.shutdown()
        serving.server_close()
