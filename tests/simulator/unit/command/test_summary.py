"""The end of a rehearsal: a verdict has its age, and what an earlier update measured is never told as this one's."""

import base64
import gzip
import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rehearsal.faults.file import holding
from rehearsal.faults.machine_faults import FILE, write
from rehearsal.outcome.reports import Known, known, left_in
from rehearsal.outcome.words import ago


def report(seconds_ago: float, verdict: str = "pass", check: str = "hca-state") -> dict[str, Any]:
    """A report that was made so long ago."""
    made = datetime.fromtimestamp(time.time() - seconds_ago, UTC).isoformat(timespec="seconds")
    checked = {"check": check, "verdict": verdict, "expected": 1, "measured": 0, "node": "n", "device": None}
    coverage = {"summary": "2 of 2 nodes, 16 of 16 HCAs"}
    return {"pool": "ndh100", "finished": made, "verdict": verdict, "coverage": coverage, "checks": [checked]}


def test_reports_are_told_apart_by_when_they_were_made() -> None:
    new, old, never = report(5), report(500), {"finished": "", "verdict": "not measured"}
    found = known({"a": new, "b": old, "c": never}, time.time() - 60)
    assert found == Known(measured={"a": new, "c": never}, before={"b": old})


def test_the_faults_that_hold_are_told_with_all_that_they_say(tmp_path: Path) -> None:
    assert holding(tmp_path) == ("", 0)
    write(tmp_path, [{"fault": "slow", "node": "n*", "factor": 0.5}, {"fault": "no-peermem"}])
    said, when = holding(tmp_path)
    assert said == "slow (node n*, factor 0.5); no-peermem"
    assert when == (tmp_path / FILE).stat().st_mtime


def test_the_report_of_a_job_that_failed_is_read_from_the_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = report(1, "fail")
    packed = base64.b64encode(gzip.compress(json.dumps(made).encode())).decode()

    class Client:
        def __init__(self, **_: Any) -> None:
            pass

        def list(self, *_: Any, labels: Any, **__: Any) -> Any:
            assert labels["app.kubernetes.io/managed-by"] == "pulumi"
            data = ({"report.json.gz": packed}, None)
            return [type("Item", (), {"to_dict": lambda _, each=each: {"binaryData": each}})() for each in data]

    assert left_in(tmp_path / "kubeconfig") == {}, "there is no cluster"
    monkeypatch.setattr("rehearsal.outcome.reports.Client", Client)
    monkeypatch.setattr("rehearsal.outcome.reports.KubeConfig.from_file", lambda _: None)
    assert left_in(tmp_path / "kubeconfig") == {"ndh100": made}


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-1, "0 seconds ago"),
        (119, "119 seconds ago"),
        (120, "2 minutes ago"),
        (7300, "2 hours ago"),
        (3e5, "3 days ago"),
    ],
)
def test_an_age_is_told_in_the_unit_that_people_use(seconds: float, said: str) -> None:
    assert ago(seconds) == said
