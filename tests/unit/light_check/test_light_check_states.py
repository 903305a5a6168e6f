"""What the scheduled check says of nodes: states, conditions, Events, and the exporter's metrics."""

import gzip
import json
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.validation.payload.light_check import exporter
from aks_infiniband.validation.payload.light_check.state import (
    KEY,
    condition_of,
    errors_since,
    event_of,
    state_of,
)
from aks_infiniband.validation.payload.say.checks import fails

NODE: dict[str, Any] = {"metadata": {"name": "n0", "uid": "uid-0"}, "status": {"conditions": []}}
FACTS: Any = {"hcas": [{"device": "mlx5_0", "state": "ACTIVE", "rate_gbps": 400.0}]}
DOWN = fails("hca-state", "ACTIVE", "DOWN", "the link", node="n0", device="mlx5_0")


def state(*checks: Any, now: float = 0, bandwidth: Any = None) -> Any:
    return state_of("n0", FACTS, checks, now=now, counters=({}, {}), bandwidth=bandwidth or {})


def said(status: str) -> dict[str, Any]:
    """The node after an earlier check."""
    condition = {"type": "InfiniBandHealthy", "status": status, "lastTransitionTime": "2026-11-01T00:00:00Z"}
    return {**NODE, "status": {"conditions": [{"type": "Ready", "status": "True"}, condition]}}


def test_a_failed_check_of_the_node_is_the_reason_and_names_the_device() -> None:
    found = state(DOWN)
    assert (found["healthy"], found["reason"]) == (False, "HcaState")
    assert "mlx5_0" in found["message"]


def test_a_failure_of_another_node_is_not_this_nodes_and_one_that_names_none_is_only_told() -> None:
    assert state({**DOWN, "node": "n1"})["healthy"]
    found = state({**DOWN, "node": None})
    assert found["healthy"]
    assert "names no node: " in found["message"]


def test_a_warning_leaves_a_node_healthy() -> None:
    assert state({**DOWN, "verdict": "warn"}, bandwidth={"mlx5_0": 392.0})["reason"] == "LightCheckPassed"


def test_a_node_that_was_measured_with_no_other_has_not_passed() -> None:
    assert state()["reason"] == "BandwidthNotMeasured"


def test_a_condition_keeps_the_time_of_its_last_change() -> None:
    same, changed = condition_of(said("False"), state(DOWN)), condition_of(said("True"), state(DOWN))
    assert same["lastTransitionTime"] == "2026-11-01T00:00:00Z"
    assert changed["lastTransitionTime"] == changed["lastHeartbeatTime"] == "1970-01-01T00:00:00Z"
    assert condition_of(NODE, state())["status"] == "True"


@pytest.mark.parametrize(
    ("before", "checks", "reason"),
    [
        (NODE, (), None),
        (said("True"), (), None),
        (said("False"), (), "InfiniBandRecovered"),
        (said("True"), (DOWN,), "InfiniBandUnhealthy"),
        (said("False"), (DOWN,), "InfiniBandUnhealthy"),
    ],
)
def test_an_event_tells_of_every_failed_check_and_of_recovery(before: Any, checks: Any, reason: Any) -> None:
    event = event_of(before, state(*checks))
    assert (event and event["reason"]) == reason
    if event:
        assert (event["involvedObject"]["uid"], event["metadata"]["namespace"]) == ("uid-0", "default")


@pytest.mark.parametrize(
    ("before", "start", "now", "grown"),
    [
        ({"a": {"x": 3}}, {"a": {"x": 4}}, {"a": {"x": 5}}, {"a": {"x": 2}}),
        ({}, {"a": {"x": 4}}, {"a": {"x": 5}}, {"a": {"x": 1}}),
        ({"a": {"x": 9}}, {"a": {"x": 0}}, {"a": {"x": 1}}, {"a": {"x": 1}}),
        ({"b": {"x": 9}}, {}, {"a": {"x": 1}}, {"a": {}}),
    ],
    ids=["since the check before", "the first check", "the driver was loaded anew", "a new device"],
)
def test_errors_are_counted_since_the_check_before(before: Any, start: Any, now: Any, grown: Any) -> None:
    assert errors_since(before, start, now) == grown


def report(pool: str) -> dict[str, Any]:
    found = {**state(DOWN, now=7, bandwidth={"mlx5_0": 392.0}), "errors": {"mlx5_0": {"symbol_error": 2}}}
    found["links"] = {"mlx5_0": {"up": False, "rate_gbps": 400.0}, "mlx5_1": {"up": True, "rate_gbps": None}}
    members = {"expected": 3, "present": 2, "gone": []}
    return {
        "schema_version": 1,
        "pool": pool,
        "run": "uid",
        "finished": 8,
        "members": members,
        "nodes": {"n0": found},
        "checks": [],
    }


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


def test_the_exporter_serves_the_mounted_reports_and_leaves_out_one_that_is_not_there_yet(tmp_path: Path) -> None:
    for name in ("a", "b", "broken"):
        (tmp_path / name).mkdir()
    (tmp_path / "a" / KEY).write_bytes(gzip.compress(json.dumps(report("a")).encode()))
    (tmp_path / "broken" / KEY).write_bytes(b"{}")
    serving = exporter.server(tmp_path, ("127.0.0.1", 0))
    threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True).start()
    try:
        address = f"http://127.0.0.1:{serving.server_port}"
        with urllib.request.urlopen(f"{address}/metrics") as answer:
            assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
            assert answer.read().decode() == exporter.exposition([report("a")])  # type: ignore[list-item]
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{address}/else")
    finally:
        serving.shutdown()
        serving.server_close()
