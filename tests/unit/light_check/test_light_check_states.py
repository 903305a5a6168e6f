"""The scheduled check's words on nodes: states, conditions, Events, and the exporter's metrics."""

import gzip
import json
import threading
import urllib.error
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.validation.payload.light_check import exporter
from aks_infiniband.validation.payload.light_check.state import (
    KEY,
    Seen,
    condition_of,
    errors_since,
    event_of,
    kept_in,
    state_of,
    with_held,
)
from aks_infiniband.validation.payload.look.identity import UNKNOWN
from aks_infiniband.validation.payload.report.standing import LIGHT_CHECK, held_in
from aks_infiniband.validation.payload.say.checks import fails, passes

NODE: dict[str, Any] = {"metadata": {"name": "n0", "uid": "uid-0"}, "status": {"conditions": []}}
FACTS: Any = {"hcas": [{"device": "mlx5_0", "state": "ACTIVE", "rate_gbps": 400.0}]}
DOWN = fails("hca-state", "ACTIVE", "DOWN", "the link", node="n0", device="mlx5_0")


def state(*checks: Any, now: float = 0, bandwidth: Any = None, before: Any = None) -> Any:
    at = datetime.fromtimestamp(now, UTC).isoformat()
    seen = Seen(FACTS, {}, {}, bandwidth or {}, {**UNKNOWN, "vm": "vm-1", "boot": "boot-1"})
    return state_of("n0", seen, checks, {"at": at, "by": LIGHT_CHECK, "pool": "nd"}, before)


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


SLOW = {
    "check": "rdma-write-bandwidth", "verdict": "fail", "device": "mlx5_3", "expected": ">= 380 Gb/s",
    "measured": "314 Gb/s", "cause": None,
}  # fmt: skip
HOT = {**SLOW, "check": "gpu-rate", "device": "GPU 3", "expected": "680", "measured": "309"}
BETWEEN = passes("rdma-write-bandwidth", ">= 380 Gb/s", "390 Gb/s")


def record(*problems: Any, decisions: Any = ("cordoned",), vm: str = "vm-1") -> str:
    """The record of a machine that `validate --cordon` has measured."""
    one = {
        "at": "2026-11-22T10:00:00+00:00", "by": "validate", "verdict": "fail", "identity": {"vm": vm},
        "problems": list(problems), "sound": {}, "values": [],
    }  # fmt: skip
    decided = [{"at": "t", "by": "validate --cordon", "what": what, "why": ""} for what in decisions]
    return json.dumps({"schema_version": 1, "machines": {"n0": {"measurements": [one], "decisions": decided}}})


LATER = datetime(2026, 11, 23, tzinfo=UTC).timestamp()


def heard(text: str | None, found: Any) -> Any:
    """The state of the node after the record was read."""
    held = held_in(text, {"n0": found["measurement"]})
    assert held is not None
    return with_held(found, held.get("n0", ()))


def test_a_node_that_a_command_has_named_is_unhealthy_until_the_same_check_is_made_on_it() -> None:
    looked = heard(record(SLOW), state(now=LATER))
    assert (looked["healthy"], looked["reason"]) == (False, "FellShort")
    assert "validate on 2026-11-22T10:00:00+00:00: rdma-write-bandwidth (mlx5_3): 314 Gb/s" in looked["message"]
    assert looked["measurement"]["verdict"] == "pass", "what this check has found is something else"
    measured = state(BETWEEN, now=LATER, bandwidth={"mlx5_0": 390.0})
    assert heard(record(SLOW), measured) == measured
    alone = state(now=LATER + 3600, before=measured)
    assert heard(record(SLOW), alone)["healthy"], "the check before has measured it"
    other = heard(record(SLOW, HOT), measured)
    assert (other["healthy"], other["reason"]) == (False, "FellShort"), "this check measures no GPUs"
    assert "gpu-rate" in other["message"]
    assert "rdma-write-bandwidth" not in other["message"]


def test_what_a_check_found_before_the_command_measured_speaks_for_no_node() -> None:
    before = state(BETWEEN, now=0, bandwidth={"mlx5_0": 390.0})
    assert not heard(record(SLOW), state(now=LATER, before=before))["healthy"]


def test_a_node_that_fails_a_check_and_is_held_tells_both() -> None:
    found = heard(record(HOT), state(DOWN, now=LATER))
    assert found["reason"] == "HcaState"
    assert "mlx5_0" in found["message"]
    assert "gpu-rate" in found["message"]


@pytest.mark.parametrize(
    "text",
    [
        None,
        record(SLOW, decisions=()),
        record(SLOW, decisions=("cordoned", "let in")),
        record(SLOW, vm="another"),
        record({**SLOW, "verdict": "warn"}),
    ],
    ids=["no record yet", "nobody has cordoned it", "let in since", "another machine", "a warning"],
)
def test_nothing_is_held_against_a_node(text: str | None) -> None:
    found = state(now=LATER)
    assert heard(text, found) == found


@pytest.mark.parametrize(
    "text", ["{", "[]", json.dumps({"schema_version": 2, "machines": {}}), '{"schema_version": 1}']
)
def test_a_record_that_cannot_be_read_lets_no_node_in(text: str) -> None:
    assert held_in(text, {"n0": state()["measurement"]}) is None
    assert kept_in(said("True")) == kept_in(said("False")) == []
    node = said("False")
    node["status"]["conditions"][1] |= {"reason": "FellShort", "message": "slow"}
    found = with_held(state(BETWEEN, bandwidth={"mlx5_0": 390.0}), kept_in(node))
    assert (found["healthy"], found["reason"]) == (False, "FellShort")
    assert "the record of machines cannot be read" in found["message"]


def test_what_the_check_has_found_is_a_measurement_as_the_record_has_it() -> None:
    found = state(DOWN, BETWEEN, now=7, bandwidth={"mlx5_0": 390.0})["measurement"]
    assert (found["by"], found["at"], found["verdict"]) == ("light check", "1970-01-01T00:00:07+00:00", "fail")
    assert (found["identity"]["boot"], found["sound"]) == ("boot-1", {"rdma-write-bandwidth": found["at"]})
    assert [problem["check"] for problem in found["problems"]] == ["hca-state"]
    assert [value["value"] for value in found["values"]] == [390.0]


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
