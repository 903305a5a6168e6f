"""The work on one machine of `aks-infiniband replace`; its single decisions are in `cases`."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from aks_infiniband.facts.managed import AUTO_DRAIN
from aks_infiniband_cli.machine_by_machine.replace import replacing
from aks_infiniband_cli.machine_by_machine.replace.case import STAGES, Case, Stage, case_of, document_of
from aks_infiniband_cli.machine_by_machine.replace.decision import Seen, Step, next_step
from aks_infiniband_cli.machine_by_machine.replace.quarantine import TAINT, TOLERATIONS
from aks_infiniband_cli.machine_by_machine.replace.sight import Sight

from tests.unit.command_line.cases.machine_by_machine import WHOLE, replaced
from tests.unit.command_line.validations import node, pod, validation

DOWN: dict[str, Any] = {"serves": False, "lacks": ["not Ready"]}
SENT: tuple[dict[str, Any], ...] = ({}, {"asked": "t"}, {"asked": "t", "accepted": "t"}, {"bad": ["slow"]})
SEEN: tuple[dict[str, Any], ...] = (
    *({}, {"boot": "2"}, DOWN, {"operation": "failed", **DOWN}, {"minutes": 46}, {"there": False}),
)


def situations() -> Iterator[tuple[Case, Seen]]:
    """Cases at every stage, and what may be seen of each."""
    for stage, known, seen in product(STAGES[:-1], SENT, SEEN):
        yield replaced(stage=stage, **known), replace(WHOLE, **seen)


def test_an_event_never_leads_to_more_than_would_be_done_without_it() -> None:
    for case, seen in situations():
        without, told = next_step(case, seen), next_step(case, replace(seen, azure="an Event says so"))
        assert told in (without, Step(act="wait", why="an Event says so")), (case, seen)


def test_nothing_is_done_to_a_machine_of_which_case_and_cluster_say_different_things() -> None:
    for case, seen in situations():
        assert next_step(case, replace(seen, differs="node a says machine /y")).act == "stop", (case, seen)


@pytest.mark.parametrize(
    ("stage", "asked", "short"),
    [("redeploy", "t", False), ("delete", "", False), ("delete", "t", True), ("refill", "", True)],
)
def test_a_pool_is_short_of_a_machine_from_the_request_to_delete_it_until_another_has_come(
    stage: Stage, asked: str, short: bool
) -> None:
    assert replaced(stage=stage, asked=asked).is_given_up == short


def test_a_case_is_written_and_read_whole() -> None:
    known = replaced(stage="arrive", new="n", bad=["slow"], known=["b"])
    assert case_of(document_of(known)) == known


def test_pods_that_measure_tolerate_what_keeps_others_from_a_node_in_quarantine() -> None:
    assert {each["key"] for each in TOLERATIONS} == {TAINT, "node.kubernetes.io/unschedulable", AUTO_DRAIN}


def test_a_long_wait_is_looked_at_less_often_until_something_else_is_awaited() -> None:
    pace = replacing.Pace()
    assert [pace.rest("a job", now) for now in (0, 30, 61, 100)] == [0, 0, 30, 30]
    assert [pace.rest("its drivers", now) for now in (101, 130, 170)] == [0, 0, 30]


def work_on(case: Case, *, stopped: bool = False) -> tuple[replacing.Replacing, list[str], Case]:
    """The work on a case, what it writes down, and the case. stopped: by a person, since the last look."""
    said = list[str]()
    history = {
        "write": lambda _case, step, _what, **_: said.append(step),
        "current": lambda _: replaced(stopped=stopped),
    }
    parts: dict[str, Any] = {"history": SimpleNamespace(**history), "wish": SimpleNamespace(namespace="ns")}
    nothing: Any = SimpleNamespace(client=None)
    return replacing.Replacing(cluster=nothing, machine=nothing, case=case, say=print, **parts), said, case


@pytest.mark.parametrize("stopped", [True, False])
def test_nothing_is_done_once_a_person_has_stopped_it(monkeypatch: pytest.MonkeyPatch, stopped: bool) -> None:
    """A look takes a while: it was not stopped when the step was decided."""
    monkeypatch.setattr(replacing, "quarantine", lambda *_, **__: None)
    work, said, _ = work_on(replaced(stage="quarantine"), stopped=stopped)
    sight = Sight(validation=validation(), nodes=[node("a")], pods=(), events=())
    assert work.carry_out(Step(act="quarantine", why="slow", stage="empty"), (sight, Seen())), "another look follows"
    assert said == ([] if stopped else ["Quarantined"])


@pytest.mark.parametrize(("load", "steps", "tries"), [((), ["Bad"], 0), ((pod("load", "a"),), ["NotMeasured"], 1)])
def test_what_falls_short_while_another_user_has_the_node_counts_for_nothing(
    monkeypatch: pytest.MonkeyPatch, load: Any, steps: list[str], tries: int
) -> None:
    check = {"check": "rdma-write-bandwidth", "verdict": "fail", "node": "a", "device": "mlx5_0", "cause": None}
    report: Any = {"checks": [{**check, "measured": 98.3, "unit": "Gb/s", "tries": None}], "nodes": {"a": {}, "b": {}}}
    before, after = (Sight(validation=validation(), nodes=[node("a")], pods=pods, events=()) for pods in ((), load))
    monkeypatch.setattr(replacing, "measured", lambda *_: SimpleNamespace(report=report, why=[]))
    monkeypatch.setattr(replacing, "sight_of", lambda *_: after)
    work, said, case = work_on(replaced(stage="restart"))
    work.carry_out(Step(act="measure"), (before, Seen(idle=("b",))))
    assert (said, case.tries, bool(case.bad)) == (steps, tries, not load)
