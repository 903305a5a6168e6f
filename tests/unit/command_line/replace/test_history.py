"""The history of replaced machines, which several commands write at once."""

import json
from dataclasses import asdict, replace
from typing import Any, cast

import pytest
from aks_infiniband.validation.kept import MACHINES, REPLACED
from aks_infiniband.validation.machines import record_in
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.machine_by_machine.replace.case import MOST_WORDS, Line
from aks_infiniband_cli.machine_by_machine.replace.history import History, tell_once
from lightkube import ApiError, Client
from lightkube.models.meta_v1 import Status
from lightkube.resources.core_v1 import ConfigMap

from tests.unit.command_line.cases.machine_by_machine import replaced

ONE = replaced()


class Cluster:
    """Keeps ConfigMaps as an API server does: who writes on an older version gets a conflict."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}
        self.record: dict[str, Any] = {}
        self.asides: dict[str, Any] = {}
        self.events: list[str] = []

    def get(self, _: Any, name: str, **__: Any) -> ConfigMap:
        found = self.record if name == MACHINES.name else self.kept
        if not found:
            raise refused(404)
        return cast("ConfigMap", ConfigMap.from_dict(found))

    def create(self, found: Any) -> None:
        if found.kind == "Event":
            self.events.append(found.reason)
        elif found.metadata.name not in (REPLACED.name, MACHINES.name):
            if found.metadata.name in self.asides:
                raise refused(409)
            self.asides[found.metadata.name] = found.to_dict()
        else:
            self._keep(found)

    def replace(self, found: Any) -> None:
        before = self.record if found.metadata.name == MACHINES.name else self.kept
        if found.metadata.resourceVersion != before["metadata"]["resourceVersion"]:
            raise refused(409)
        self._keep(found)

    def _keep(self, found: Any) -> None:
        is_record = found.metadata.name == MACHINES.name
        before, after = self.record if is_record else self.kept, found.to_dict()
        version = int((before.get("metadata") or {}).get("resourceVersion", 0)) + 1
        after["metadata"]["resourceVersion"] = str(version)
        if is_record:
            self.record = after
        else:
            self.kept = after


def refused(code: int) -> ApiError:
    return ApiError(status=Status(code=code, message="no"))


def test_whoever_works_on_a_case_keeps_the_line_of_who_has_stopped_it() -> None:
    client = cast("Client", Cluster())
    working, stopping = History(client, "ns"), History(client, "ns")
    case = replace(ONE)
    working.take_over(case)
    working.write(case, "Quarantined", "w")
    assert [each.node for each in stopping.stop()] == ["a"]
    working.write(case, "Emptied", "nobody uses it")
    (kept,) = stopping.cases()
    assert [line.step for line in kept.lines] == ["Quarantined", "Stopped", "Emptied"]
    assert (kept.stopped, case.stopped) == (True, True)


def test_what_a_case_decides_of_a_machine_stands_in_the_record_too() -> None:
    cluster = Cluster()
    history, case = History(cast("Client", cluster), "ns"), replace(ONE)
    history.take_over(case)
    for step in ("Quarantined", "Emptied", "Bad", "Deleted"):
        history.write(case, step, "slow")
    case.new = "b"
    history.write(case, "LetIn", "the new machine is sound")
    record = record_in(cluster.record)
    assert [(one.by, one.what) for one in record["a"].decisions] == [
        ("replace", "quarantined"),
        ("replace", "given up"),
    ]
    assert [(one.what, one.why) for one in record["b"].decisions] == [("let in", "the new machine is sound")]


def config_map(*cases: Any) -> dict[str, Any]:
    return {"data": {REPLACED.key: json.dumps({"schema_version": 1, "stopped": "", "cases": cases})}}


BROKEN = ["{", "[]", '{"cases": []}', '{"schema_version": "1", "cases": 7}', '{"schema_version": 1, "cases": 7}']


@pytest.mark.parametrize("text", BROKEN)
def test_a_history_that_is_none_is_told_set_aside_and_gone_on_from(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tell_once.cache_clear()
    cluster = Cluster()
    history = History(cast("Client", cluster), "ns")
    cluster.kept = {"data": {REPLACED.key: text}, "metadata": {"name": REPLACED.name, "resourceVersion": "1"}}
    assert history.cases() == []
    assert "cannot be read" in " ".join(capsys.readouterr().err.split())
    history.take_over(replace(ONE))
    (aside,) = cluster.asides.values()
    assert aside["data"] == {REPLACED.key: text}
    assert history.read().lost == aside["metadata"]["name"]
    history.write(history.cases()[0], "Quarantined", "w")
    assert [case.id for case in history.cases()] == ["i"]
    assert history.read().lost == aside["metadata"]["name"], "the next command knows it, too"
    assert len(cluster.asides) == 1


def test_a_case_that_cannot_be_read_is_set_aside_before_the_others_are_written() -> None:
    cluster = Cluster()
    history = History(cast("Client", cluster), "ns")
    cluster.kept = {**config_map({**asdict(ONE), "stage": "levitate"}), "metadata": {"resourceVersion": "1"}}
    assert history.stop() == []
    (aside,) = cluster.asides.values()
    assert "levitate" in aside["data"][REPLACED.key]


def test_what_another_release_has_written_is_read_by_nobody_else_and_never_written_over() -> None:
    cluster = Cluster()
    history = History(cast("Client", cluster), "ns")
    text = json.dumps({"schema_version": 2, "cases": []})
    cluster.kept = kept = {"data": {REPLACED.key: text}, "metadata": {"resourceVersion": "1"}}
    for work in (history.cases, history.stop, lambda: history.take_over(replace(ONE))):
        with pytest.raises(CommandError, match="schema_version is 2, and this release reads 1"):
            work()
    assert (cluster.kept, cluster.asides) == (kept, {})


def test_who_works_on_a_case_that_the_history_has_lost_ends() -> None:
    cluster = Cluster()
    history, case = History(cast("Client", cluster), "ns"), replace(ONE)
    history.take_over(case)
    cluster.kept["data"][REPLACED.key] = "{"
    with pytest.raises(CommandError, match="the case of a is gone from the history"):
        history.current(case)
    with pytest.raises(CommandError, match="the case of a is gone from the history"):
        history.write(case, "Sound", "w")


def test_the_history_is_bounded_in_bytes_and_keeps_what_is_open() -> None:
    cluster = Cluster()
    history = History(cast("Client", cluster), "ns")
    lines = [Line(at="2026-11-25T10:00:00+00:00", step="Bad", what="x" * 5000)] * 200
    known = [f"aks-hb-1234-vmss{number:06}" for number in range(300)]
    over = [replace(ONE, id=str(n), stage="over", lines=lines, known=known, bad=["slow"] * 8) for n in range(40)]
    cluster.kept = {
        **config_map(asdict(replace(ONE, id="open")), *map(asdict, over)),
        "metadata": {"name": REPLACED.name},
    }
    cluster.kept["metadata"]["resourceVersion"] = "1"
    history.take_over(replace(ONE, id="new"))
    text = cluster.kept["data"][REPLACED.key]
    assert len(text) < 1 << 20
    kept = history.cases()
    assert [kept[0].id, kept[-2].id, kept[-1].id] == ["open", "39", "new"]
    assert not any(case.known or case.bad for case in kept)


def test_a_line_that_is_too_long_is_the_same_in_the_command_and_in_the_cluster() -> None:
    """The next command compares what it would say with what was said."""
    cluster = Cluster()
    history = History(cast("Client", cluster), "ns")
    case = replace(ONE)
    history.take_over(case)
    history.write(case, "Waits", "no quota " * 200)
    assert len(case.lines[-1].what) == MOST_WORDS
    assert history.cases()[-1].lines[-1] == case.lines[-1]
