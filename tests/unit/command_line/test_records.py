"""Measurements and decisions on machines are written while others write, and never cost the measurement."""

import json
from typing import Any

import pytest
from aks_infiniband.resources.metadata import labels
from aks_infiniband.validation import machines
from aks_infiniband.validation.kept import MACHINES
from aks_infiniband.validation.payload.light_check.state import KEY
from aks_infiniband.validation.payload.look.identity import UNKNOWN
from aks_infiniband.validation.payload.say.checks import fails, passes
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate import records

from tests.unit.command_line.in_memory import ApiServer
from tests.unit.command_line.validations import node, report

NOT_ALLOWED = dict.fromkeys(("create ConfigMap", "replace ConfigMap", "patch NodeStatus"), 403)


def kept(text: str) -> dict[str, Any]:
    """The ConfigMap of the record."""
    metadata = {"name": MACHINES.name, "namespace": "system", "resourceVersion": "1"}
    return {"metadata": metadata, "data": {MACHINES.key: text}}


def test_a_measurement_is_written_again_where_another_command_wrote_meanwhile() -> None:
    cluster: Any = ApiServer(conflicts=2)
    records.keep_measured(cluster, "system", report(393.0), [node("a")], "validate")
    records.keep_decision(cluster, "system", "a", "cordoned", by="validate", why="slow")
    found = records.read_record(cluster, "system")
    assert [one.by for one in found["a"].measurements] == ["validate"]
    assert [one.what for one in found["a"].decisions] == ["cordoned"]


def test_a_record_that_may_not_be_written_is_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    cluster: Any = ApiServer(NOT_ALLOWED)
    records.keep_measured(cluster, "system", report(393.0), [node("a")], "validate")
    records.set_condition(cluster, node("a"), healthy=False, why="slow")
    said = capsys.readouterr().err
    assert "the record of the machines could not be written" in said
    assert "the condition InfiniBandHealthy of node a could not be set" in said


def test_a_record_that_cannot_be_read_is_set_aside_and_another_begins(capsys: pytest.CaptureFixture[str]) -> None:
    cluster: Any = ApiServer()
    cluster.put("ConfigMap", kept("{"))
    with pytest.raises(CommandError, match="ConfigMap machines of namespace system, cannot be read"):
        records.read_record(cluster, "system")
    records.keep_decision(cluster, "system", "a", "cordoned", by="validate", why="slow")
    (aside,) = {*cluster.config_maps} - {MACHINES.name}
    assert aside.startswith("machines-unreadable-")
    assert f"The old content is kept as ConfigMap {aside}" in " ".join(capsys.readouterr().err.split())
    assert [one.what for one in records.read_record(cluster, "system")["a"].decisions] == ["cordoned"]


def test_a_record_of_another_release_is_never_written_over(capsys: pytest.CaptureFixture[str]) -> None:
    cluster: Any = ApiServer()
    newer = kept(json.dumps({"schema_version": 2, "machines": {}}))
    cluster.put("ConfigMap", newer)
    records.keep_decision(cluster, "system", "a", "cordoned", by="validate", why="slow")
    assert cluster.config_maps == {MACHINES.name: newer}
    assert "could not be written" in capsys.readouterr().err


def test_the_condition_of_the_light_check_is_only_taken_back_where_this_has_set_it() -> None:
    cluster: Any = ApiServer()
    sick, own = node("a"), {"type": "InfiniBandHealthy", "status": "False", "reason": "HcaState"}
    sick["status"]["conditions"].append(own)
    records.set_condition(cluster, sick, healthy=None, why="let in")
    records.set_condition(cluster, sick, healthy=True, why="sound")
    assert cluster.patches == []
    own["reason"] = machines.FELL_SHORT
    records.set_condition(cluster, sick, healthy=None, why="let in")
    (said,) = cluster.patches[0]["status"]["conditions"]
    assert (said["status"], said["message"]) == ("Unknown", "let in")


def says(*checks: Any, finished: str) -> Any:
    """A report of a command on node a."""
    return {**report(314.0, *checks), "finished": finished, "nodes": {"a": {}}}


SLOW = fails("rdma-write-bandwidth", ">= 380", 314.0, "slow", node="a", device="mlx5_0")
HOT = fails("gpu-rate", "680", 309.0, "slow", node="a", device="GPU 3")
WELL = passes("rdma-write-bandwidth", ">= 380", 390.0)


@pytest.mark.parametrize(
    ("reason", "first", "status"),
    [
        ("FellShort", [SLOW], "True"),
        ("NotMeasuredSince", [SLOW], "True"),
        ("FellShort", [SLOW, HOT], None),
        ("HcaState", [SLOW], None),
    ],
    ids=["measured sound", "and let in before", "the GPU was not measured again", "the light check's own word"],
)
def test_a_false_condition_that_a_command_has_set_ends_with_a_measurement_that_passes(
    reason: str, first: list[Any], status: str | None
) -> None:
    cluster: Any = ApiServer()
    sick = node("a")
    sick["status"]["conditions"].append({"type": "InfiniBandHealthy", "status": "False", "reason": reason})
    records.keep_measured(cluster, "system", says(*first, finished="2026-11-22T10:00:00+00:00"), [sick], "validate")
    assert cluster.patches == []
    records.keep_measured(cluster, "system", says(WELL, finished="2026-11-22T11:00:00+00:00"), [sick], "replace")
    found = [said["status"] for patch in cluster.patches for said in patch["status"]["conditions"]]
    assert found == ([status] if status else [])


def test_what_the_light_check_has_found_is_known_of_a_machine() -> None:
    cluster: Any = ApiServer()
    records.keep_measured(cluster, "system", says(SLOW, finished="2026-11-22T10:00:00+00:00"), [node("a")], "validate")
    found: Any = {"at": "2026-11-23T10:00:00+00:00", "by": "light check", "pool": "nd", "verdict": "pass"}
    found |= {"identity": dict(UNKNOWN), "problems": [], "sound": {"hca-state": "t"}, "values": []}
    state = {"checked": 1, "healthy": True, "reason": "", "message": "", "links": {}, "counters": {}, "errors": {}}
    of_nodes = {"a": {**state, "bandwidth": {}, "measurement": found}, "b": {**state, "bandwidth": {}}}
    metadata = {"name": "nd-light-check", "labels": labels("light-check", "check")}
    text = json.dumps({"schema_version": 1, "nodes": of_nodes})
    cluster.put("ConfigMap", {"metadata": {**metadata, "namespace": "system"}, "data": {KEY: text}})
    record = records.read_record(cluster, "system")
    assert [one.by for one in record["a"].measurements] == ["validate", "light check"]
    assert list(record) == ["a"], "a report of an older release tells nothing of b"
    counts = machines.current(record["a"], node("a"))
    assert counts is not None
    assert counts.by == "validate", "the light check did not make the check that failed"
