"""Measurements and decisions on machines are written while others write, and never cost the measurement."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from aks_infiniband.validation import machines
from aks_infiniband.validation.kept import MACHINES
from aks_infiniband.validation.payload.light_check.state import KEY
from aks_infiniband.validation.payload.look.identity import UNKNOWN
from aks_infiniband.validation.payload.say.checks import fails, passes
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate import records
from httpx2 import Request, Response
from lightkube import ApiError
from lightkube.resources.core_v1 import ConfigMap

from tests.unit.command_line.validations import node, report


def refused(code: int) -> ApiError:
    status = {"kind": "Status", "code": code, "message": "no"}
    return ApiError(response=Response(code, json=status, request=Request("GET", "https://x/api")))


class Cluster:
    """A cluster with one ConfigMap, and what was done to nodes."""

    def __init__(self, *, conflicts: int = 0, forbidden: bool = False) -> None:
        self.kept: dict[str, Any] | None = None
        self.conflicts, self.forbidden = conflicts, forbidden
        self.patches: list[Any] = []
        self.asides: dict[str, Any] = {}
        self.light_checks: list[Any] = []

    def get(self, _: Any, name: str, **__: Any) -> Any:
        if self.kept is None:
            raise refused(404)
        return SimpleNamespace(to_dict=lambda: self.kept)

    def list(self, _: Any, *, labels: dict[str, str], **__: Any) -> Any:
        assert labels["app.kubernetes.io/name"] == "light-check"
        return [SimpleNamespace(to_dict=lambda found=found: found) for found in self.light_checks]

    def create(self, item: ConfigMap) -> None:
        assert item.metadata
        if item.metadata.name == MACHINES.name:
            self.replace(item)
        else:
            self.asides[str(item.metadata.name)] = item.to_dict()

    def replace(self, item: ConfigMap) -> None:
        if self.forbidden:
            raise refused(403)
        if self.conflicts:
            self.conflicts -= 1
            raise refused(409)
        self.kept = {**item.to_dict(), "metadata": {"name": "machines", "resourceVersion": "1"}}

    def patch(self, _: Any, name: str, patch: Any, **__: Any) -> None:
        if self.forbidden:
            raise refused(403)
        self.patches.append(patch)


def test_a_measurement_is_written_again_where_another_command_wrote_meanwhile() -> None:
    cluster: Any = Cluster(conflicts=2)
    records.keep_measured(cluster, "system", report(393.0), [node("a")], "validate")
    records.keep_decision(cluster, "system", "a", "cordoned", by="validate", why="slow")
    found = records.read_record(cluster, "system")
    assert [one.by for one in found["a"].measurements] == ["validate"]
    assert [one.what for one in found["a"].decisions] == ["cordoned"]


def test_a_record_that_may_not_be_written_is_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    cluster: Any = Cluster(forbidden=True)
    records.keep_measured(cluster, "system", report(393.0), [node("a")], "validate")
    records.set_condition(cluster, node("a"), healthy=False, why="slow")
    said = capsys.readouterr().err
    assert "the record of the machines could not be written" in said
    assert "the condition InfiniBandHealthy of node a could not be set" in said


def test_a_record_that_cannot_be_read_is_set_aside_and_another_begins(capsys: pytest.CaptureFixture[str]) -> None:
    cluster: Any = Cluster()
    cluster.kept = {"metadata": {"resourceVersion": "1"}, "data": {MACHINES.key: "{"}}
    with pytest.raises(CommandError, match="ConfigMap machines of namespace system, cannot be read"):
        records.read_record(cluster, "system")
    records.keep_decision(cluster, "system", "a", "cordoned", by="validate", why="slow")
    (aside,) = cluster.asides
    assert aside.startswith("machines-unreadable-")
    assert f"The old content is kept as ConfigMap {aside}" in " ".join(capsys.readouterr().err.split())
    assert [one.what for one in records.read_record(cluster, "system")["a"].decisions] == ["cordoned"]


def test_a_record_of_another_release_is_never_written_over(capsys: pytest.CaptureFixture[str]) -> None:
    cluster: Any = Cluster()
    text = json.dumps({"schema_version": 2, "machines": {}})
    cluster.kept = kept = {"metadata": {"resourceVersion": "1"}, "data": {MACHINES.key: text}}
    records.keep_decision(cluster, "system", "a", "cordoned", by="validate", why="slow")
    assert (cluster.kept, cluster.asides) == (kept, {})
    assert "could not be written" in capsys.readouterr().err


def test_the_condition_of_the_light_check_is_only_taken_back_where_this_has_set_it() -> None:
    cluster: Any = Cluster()
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
    cluster: Any = Cluster()
    sick = node("a")
    sick["status"]["conditions"].append({"type": "InfiniBandHealthy", "status": "False", "reason": reason})
    records.keep_measured(cluster, "system", says(*first, finished="2026-11-22T10:00:00+00:00"), [sick], "validate")
    assert cluster.patches == []
    records.keep_measured(cluster, "system", says(WELL, finished="2026-11-22T11:00:00+00:00"), [sick], "replace")
    found = [said["status"] for patch in cluster.patches for said in patch["status"]["conditions"]]
    assert found == ([status] if status else [])


def test_what_the_light_check_has_found_is_known_of_a_machine() -> None:
    cluster: Any = Cluster()
    records.keep_measured(cluster, "system", says(SLOW, finished="2026-11-22T10:00:00+00:00"), [node("a")], "validate")
    found: Any = {"at": "2026-11-23T10:00:00+00:00", "by": "light check", "pool": "nd", "verdict": "pass"}
    found |= {"identity": dict(UNKNOWN), "problems": [], "sound": {"hca-state": "t"}, "values": []}
    state = {"checked": 1, "healthy": True, "reason": "", "message": "", "links": {}, "counters": {}, "errors": {}}
    of_nodes = {"a": {**state, "bandwidth": {}, "measurement": found}, "b": {**state, "bandwidth": {}}}
    cluster.light_checks = [{"data": {KEY: json.dumps({"schema_version": 1, "nodes": of_nodes})}}]
    record = records.read_record(cluster, "system")
    assert [one.by for one in record["a"].measurements] == ["validate", "light check"]
    assert list(record) == ["a"], "a report of an older release tells nothing of b"
    counts = machines.current(record["a"], node("a"))
    assert counts is not None
    assert counts.by == "validate", "the light check did not make the check that failed"
