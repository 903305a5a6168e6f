"""`aks-infiniband validate`: what it compares, cordons, refuses and says."""

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from aks_infiniband.validation.payload.report.kept import packed_report
from aks_infiniband_cli.console import SCHEMA_VERSION
from aks_infiniband_cli.validate import cordon, rendering, run, validating
from aks_infiniband_cli.validate.comparison import changes, earlier
from httpx2 import ConnectError
from lightkube.core.exceptions import ConfigError
from lightkube.resources.batch_v1 import Job
from rich.console import Console, Group

from tests.unit.command_line.validations import (
    ACCEPTED,
    RUN,
    found_in,
    job_of,
    report,
)

PROJECT = Path(__file__).parents[3]


def test_an_earlier_measurement_is_taken_in_every_form_in_which_people_have_it() -> None:
    made = report(390.0)
    kept = {"type": "pulumi:index:Stash", "outputs": {"output": packed_report(made)}}
    forms = (made, {"pools": {"ndh100": {"report": made}}}, {"version": 3, "deployment": {"resources": [kept]}})
    for form in forms:
        values = {"finished": made["finished"], "values": {"rdma-write-bandwidth": 390.0}}
        assert earlier(json.dumps(form)) == {"ndh100": values}


def test_every_figure_stands_beside_what_it_was_and_the_report_says_which_is_worse() -> None:
    regression = {"check": "regression", "device": "rdma-write-bandwidth", "verdict": "warn", "node": None}
    accepted: Any = {**ACCEPTED, "values": {**ACCEPTED["values"], "ipoib-latency": 2.0}}
    (change,) = changes(accepted, report(196.55, regression))
    assert (change.before, change.now, change.unit, change.worse) == (393.1, 196.55, "Gb/s", True)
    assert change.change_percent == -50.0
    assert changes(None, report(1.0)) == []


def test_only_nodes_that_a_check_fails_on_are_cordoned() -> None:
    def check(verdict: str, node: str | None) -> Any:
        place = {"node": node, "device": None}
        told = {"expected": "ACTIVE", "measured": "DOWN", "unit": None, "tries": None, "cause": None}
        return {"check": f"c-{verdict}", "verdict": verdict, **place, **told}

    found = report(1.0, check("fail", "a"), check("fail", "a"), check("warn", "b"), check("fail", None))
    assert cordon.failing(found) == {"a": "c-fail: DOWN, expected ACTIVE"}


class Everything:
    """A client of a cluster with validations in two namespaces: the program's, and one that a team has made."""

    def list(self, kind: Any, *, namespace: str | None = None, **_: Any) -> list[Any]:
        forged, own = job_of(), job_of(made="2026-11-01T08:00:00Z")
        for job, place in ((forged, "team"), (own, SYSTEM_NAMESPACE)):
            job["metadata"]["namespace"] = place
        jobs = [job for job in (forged, own) if namespace in ("*", job["metadata"]["namespace"])]
        return [SimpleNamespace(to_dict=lambda job=job: job) for job in (jobs if kind is Job else [])]


def test_what_a_team_has_made_to_look_like_a_validation_is_none() -> None:
    """The pool would be measured by the team's pods, and their word would have nodes cordoned."""
    (found,) = validating.read_cluster(Everything(), SYSTEM_NAMESPACE)[0].values()  # type: ignore[arg-type]
    assert found.namespace == SYSTEM_NAMESPACE
    assert validating.read_cluster(Everything(), "another")[0] == {}  # type: ignore[arg-type]


class Silent:
    """A client that gets no answer a few times, and then a Job that has ended."""

    def __init__(self, times: int, error: Exception) -> None:
        self.times, self.error = times, error

    def get(self, *_: Any, **__: Any) -> Any:
        self.times -= 1
        if self.times >= 0:
            raise self.error
        return self

    def to_dict(self) -> dict[str, Any]:
        return {"metadata": {}, "status": {"conditions": [{"type": "Complete", "status": "True"}]}}


@pytest.mark.parametrize("error", [ConnectError("nobody there"), ConfigError("Exec kubelogin returned 1")], ids=str)
def test_a_moment_without_an_answer_or_a_login_does_not_end_the_wait(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    client: Any = Silent(3, error)
    assert list(run.await_runs(client, [RUN], lambda _: None)) == [RUN.name]
    monkeypatch.setattr(run, "_SILENT_SECONDS", -1.0)
    client = Silent(3, error)
    with pytest.raises(type(error)):
        run.await_runs(client, [RUN], lambda _: None)


def test_an_hour_asleep_between_two_looks_is_no_hour_without_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    now, passes = [0.0], iter([2.0, 3600.0, 5.0, 2.0])

    def look() -> str | None:
        """Nothing yet; after the sleep no answer twice, as the connection of before is gone; then what was awaited."""
        seconds = next(passes)
        now[0] += seconds
        if seconds > 2:
            raise ConnectError("nobody there")
        return "seen" if now[0] > 3600 else None

    assert run.until(look, clock=lambda: now[0]) == "seen"


def test_the_transcripts_of_the_page_are_what_the_command_prints() -> None:
    """The documents are those of a rehearsal, without what no text shows."""
    page = (PROJECT / "docs" / "validate.md").read_text(encoding="utf-8")
    documents = json.loads(Path(__file__).with_name("validated.json").read_text(encoding="utf-8"))
    for name in ("cordon", "uncordon"):
        said = documents[name]
        assert f"/kubeconfig --{name}\n{rendering.answer(found_in(said)).text}\n" in page
        assert {"schema_version": SCHEMA_VERSION, **rendering.answer(found_in(said)).document} == said


def test_a_terminal_shows_the_same_words() -> None:
    documents = json.loads(Path(__file__).with_name("validated.json").read_text(encoding="utf-8"))
    found = found_in(documents["cordon"])
    console = Console(width=200, record=True, file=io.StringIO(), highlight=False)
    console.print(Group(*rendering.answer(found).lines))
    assert console.export_text().split() == rendering.answer(found).text.split()
