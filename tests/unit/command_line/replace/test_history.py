"""The history of replaced machines, which several commands write at once."""

import copy
import json
from dataclasses import asdict, replace
from typing import Any, cast

import pytest
from aks_infiniband.validation.kept import MACHINES, REPLACED
from aks_infiniband.validation.machines import record_in
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.machine_by_machine.replace.case import MOST_WORDS, Line
from aks_infiniband_cli.machine_by_machine.replace.history import History, tell_once
from lightkube import Client

from tests.unit.command_line.cases.machine_by_machine import replaced
from tests.unit.command_line.in_memory import ApiServer

ONE = replaced()


def begun(text: str = "") -> tuple[ApiServer, History]:
    """A history in a cluster. text: the content that it has already."""
    cluster = ApiServer()
    if text:
        metadata = {"name": REPLACED.name, "namespace": "ns", "resourceVersion": "1"}
        cluster.put("ConfigMap", {"metadata": metadata, "data": {REPLACED.key: text}})
    return cluster, History(cast("Client", cluster), "ns")


def asides(cluster: ApiServer) -> dict[str, str]:
    """The contents that were set aside, by name."""
    known = (REPLACED.name, MACHINES.name)
    return {name: found["data"][REPLACED.key] for name, found in cluster.config_maps.items() if name not in known}


def test_whoever_works_on_a_case_keeps_the_line_of_who_has_stopped_it() -> None:
    cluster, working = begun()
    stopping, case = History(cast("Client", cluster), "ns"), replace(ONE)
    working.take_over(case)
    working.write(case, "Quarantined", "w")
    assert [each.node for each in stopping.stop()] == ["a"]
    working.write(case, "Emptied", "nobody uses it")
    (kept,) = stopping.cases()
    assert [line.step for line in kept.lines] == ["Quarantined", "Stopped", "Emptied"]
    assert (kept.stopped, case.stopped) == (True, True)


def test_what_a_case_decides_of_a_machine_stands_in_the_record_too() -> None:
    (cluster, history), case = begun(), replace(ONE)
    history.take_over(case)
    for step in ("Quarantined", "Emptied", "Bad", "Deleted"):
        history.write(case, step, "slow")
    case.new = "b"
    history.write(case, "LetIn", "the new machine is sound")
    record = record_in(cluster.config_maps[MACHINES.name])
    assert [(one.by, one.what) for one in record["a"].decisions] == [
        ("replace", "quarantined"),
        ("replace", "given up"),
    ]
    assert [(one.what, one.why) for one in record["b"].decisions] == [("let in", "the new machine is sound")]


def written(*cases: Any) -> str:
    return json.dumps({"schema_version": 1, "stopped": "", "cases": cases})


BROKEN = ["{", "[]", '{"cases": []}', '{"schema_version": "1", "cases": 7}', '{"schema_version": 1, "cases": 7}']


@pytest.mark.parametrize("text", BROKEN)
def test_a_history_that_is_none_is_told_set_aside_and_gone_on_from(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tell_once.cache_clear()
    cluster, history = begun(text)
    assert history.cases() == []
    assert "cannot be read" in " ".join(capsys.readouterr().err.split())
    history.take_over(replace(ONE))
    ((aside, kept),) = asides(cluster).items()
    assert (kept, history.read().lost) == (text, aside)
    history.write(history.cases()[0], "Quarantined", "w")
    assert [case.id for case in history.cases()] == ["i"]
    assert history.read().lost == aside, "the next command knows it, too"
    assert len(asides(cluster)) == 1


def test_a_case_that_cannot_be_read_is_set_aside_before_the_others_are_written() -> None:
    cluster, history = begun(written({**asdict(ONE), "stage": "levitate"}))
    assert history.stop() == []
    (aside,) = asides(cluster).values()
    assert "levitate" in aside


def test_what_another_release_has_written_is_read_by_nobody_else_and_never_written_over() -> None:
    cluster, history = begun(json.dumps({"schema_version": 2, "cases": []}))
    before = copy.deepcopy(cluster.objects)
    for work in (history.cases, history.stop, lambda: history.take_over(replace(ONE))):
        with pytest.raises(CommandError, match="schema_version is 2, and this release reads 1"):
            work()
    assert cluster.objects == before


def test_who_works_on_a_case_that_the_history_has_lost_ends() -> None:
    (cluster, history), case = begun(), replace(ONE)
    history.take_over(case)
    cluster.config_maps[REPLACED.name]["data"][REPLACED.key] = "{"
    for work in (lambda: history.current(case), lambda: history.write(case, "Sound", "w")):
        with pytest.raises(CommandError, match="the case of a is gone from the history"):
            work()


def test_the_history_is_bounded_in_bytes_and_keeps_what_is_open() -> None:
    lines = [Line(at="2026-11-25T10:00:00+00:00", step="Bad", what="x" * 5000)] * 200
    known = [f"aks-hb-1234-vmss{number:06}" for number in range(300)]
    over = [replace(ONE, id=str(n), stage="over", lines=lines, known=known, bad=["slow"] * 8) for n in range(40)]
    cluster, history = begun(written(asdict(replace(ONE, id="open")), *map(asdict, over)))
    history.take_over(replace(ONE, id="new"))
    assert len(cluster.config_maps[REPLACED.name]["data"][REPLACED.key]) < 1 << 20
    kept = history.cases()
    assert [kept[0].id, kept[-2].id, kept[-1].id] == ["open", "39", "new"]
    assert not any(case.known or case.bad for case in kept)


def test_a_line_that_is_too_long_is_the_same_in_the_command_and_in_the_cluster() -> None:
    """The next command compares what it would say with what was said."""
    (_, history), case = begun(), replace(ONE)
    history.take_over(case)
    history.write(case, "Waits", "no quota " * 200)
    assert len(case.lines[-1].what) == MOST_WORDS
    assert history.cases()[-1].lines[-1] == case.lines[-1]
