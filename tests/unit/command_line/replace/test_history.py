"""The history of replaced machines, which several commands write at once."""

import json
from dataclasses import asdict, replace
from typing import Any, cast

import pytest
from aks_infiniband_cli.bad_machines.replace.case import Case, Line
from aks_infiniband_cli.bad_machines.replace.history import KEY, NAME, History, cases_in, tell_once
from aks_infiniband_cli.console import CommandError
from lightkube import ApiError, Client
from lightkube.models.meta_v1 import Status
from lightkube.resources.core_v1 import ConfigMap


class Cluster:
    """Keeps one ConfigMap as an API server does: who writes on an older version gets a conflict."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}
        self.events: list[str] = []

    def get(self, *_: Any, **__: Any) -> ConfigMap:
        if not self.kept:
            raise refused(404)
        return cast("ConfigMap", ConfigMap.from_dict(self.kept))

    def create(self, found: Any) -> None:
        if found.kind == "Event":
            self.events.append(found.reason)
        else:
            self._keep(found)

    def replace(self, found: Any) -> None:
        if found.metadata.resourceVersion != self.kept["metadata"]["resourceVersion"]:
            raise refused(409)
        self._keep(found)

    def _keep(self, found: Any) -> None:
        version = int((self.kept.get("metadata") or {}).get("resourceVersion", 0)) + 1
        self.kept = found.to_dict()
        self.kept["metadata"]["resourceVersion"] = str(version)


def refused(code: int) -> ApiError:
    return ApiError(status=Status(code=code, message="no"))


def test_whoever_works_on_a_case_keeps_the_line_of_who_has_stopped_it() -> None:
    client = cast("Client", Cluster())
    working, stopping = History(client, "ns"), History(client, "ns")
    case = Case(id="i", node="a", pool="hb", resource="/x", agent_pool="hb", begun="2026-11-25T10:00:00+00:00", why="w")
    working.take_over(case)
    working.write(case, "Quarantined", "w")
    assert [each.node for each in stopping.stop()] == ["a"]
    working.write(case, "Emptied", "nobody uses it")
    (kept,) = stopping.cases()
    assert [line.step for line in kept.lines] == ["Quarantined", "Stopped", "Emptied"]
    assert (kept.stopped, case.stopped) == (True, True)


ONE = Case(id="i", node="a", pool="hb", resource="/x", agent_pool="hb", begun="2026-11-25T10:00:00+00:00", why="w")


def config_map(*cases: Any) -> dict[str, Any]:
    return {"data": {KEY: json.dumps({"schema_version": 1, "stopped": "", "cases": cases})}}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"begun": "yesterday"}, "begun is 'yesterday'; must be a moment in ISO 8601, with its zone"),
        ({"begun": "2026-11-25T10:00:00"}, "begun is '2026-11-25T10:00:00'; must be a moment"),
        ({"asked": "soon"}, "asked is 'soon'"),
        ({"resource": None}, "resource is"),
        ({"stage": "levitate"}, "stage is 'levitate'"),
        ({"farthest": "moon"}, "farthest is 'moon'"),
        ({"bad": "slow"}, "bad"),
        ({"stopped": "no"}, "stopped is 'no'"),
        ({"lines": [{"at": "t"}]}, "lines.0.step is missing"),
    ],
)
def test_a_case_that_is_not_in_its_form_is_told_and_counts_for_nothing(
    changed: dict[str, Any], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tell_once.cache_clear()
    sound = replace(ONE, id="j")
    assert cases_in(config_map({**asdict(ONE), **changed}, asdict(sound))) == [sound]
    assert told in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("text", ["{", "[]", '{"cases": []}', '{"schema_version": "1", "cases": 7}'])
def test_a_history_that_is_none_is_refused_in_words(text: str) -> None:
    with pytest.raises(CommandError, match=f"key {KEY} of ConfigMap {NAME}, cannot be read"):
        cases_in({"data": {KEY: text}})


def test_the_history_is_bounded_in_bytes_and_keeps_what_is_open() -> None:
    cluster = Cluster()
    history = History(cast("Client", cluster), "ns")
    lines = [Line(at="2026-11-25T10:00:00+00:00", step="Bad", what="x" * 5000)] * 200
    known = [f"aks-hb-1234-vmss{number:06}" for number in range(300)]
    over = [replace(ONE, id=str(n), stage="over", lines=lines, known=known, bad=["slow"] * 8) for n in range(40)]
    cluster.kept = {**config_map(asdict(replace(ONE, id="open")), *map(asdict, over)), "metadata": {"name": NAME}}
    cluster.kept["metadata"]["resourceVersion"] = "1"
    history.take_over(replace(ONE, id="new"))
    text = cluster.kept["data"][KEY]
    assert len(text) < 1 << 20
    kept = history.cases()
    assert [kept[0].id, kept[-2].id, kept[-1].id] == ["open", "39", "new"]
    assert not any(case.known or case.bad for case in kept)
