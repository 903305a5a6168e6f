"""The end of a rehearsal: a verdict has its age, and what an earlier update measured is never told as this one's."""

import base64
import gzip
import json
import re
import time
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any, Final

import pytest
from rich.console import Console

from rehearsal.engine.events import Diagnostic, Step
from rehearsal.faults.file import holding, read_file
from rehearsal.faults.machine_faults import FILE, write
from rehearsal.outcome.failure import print_failure
from rehearsal.outcome.progress import Progress
from rehearsal.outcome.reports import Known, known, left_in
from rehearsal.outcome.summary import Since, print_summary
from rehearsal.outcome.words import ago

URN: Final = "urn:pulumi:dev::aks-infiniband::kubernetes:batch/v1:Job::rdma-ndh100-validate"
POOL: Final[dict[str, Any]] = {"vmSize": "V", "nodeCount": 2, "rdmaResource": "rdma/shared_ib"}
MEASURE: Final = "/venv/bin/aks-infiniband validate --kubeconfig /run/kubeconfig"


def report(seconds_ago: float, verdict: str = "pass", check: str = "hca-state") -> dict[str, Any]:
    """A report that was made so long ago."""
    made = datetime.fromtimestamp(time.time() - seconds_ago, UTC).isoformat(timespec="seconds")
    checked = {"check": check, "verdict": verdict, "expected": 1, "measured": 0, "node": "n", "device": None}
    coverage = {"summary": "2 of 2 nodes, 16 of 16 HCAs"}
    return {"pool": "ndh100", "finished": made, "verdict": verdict, "coverage": coverage, "checks": [checked]}


def summary(found: Known, *steps: Step, **since: Any) -> str:
    console = Console(width=200, record=True, file=StringIO())
    print_summary(console, steps, {"pools": {"ndh100": POOL}}, found, since=Since(**since))
    return console.export_text()


def test_reports_are_told_apart_by_when_they_were_made() -> None:
    new, old, never = report(5), report(500), {"finished": "", "verdict": "not measured"}
    found = known({"a": new, "b": old, "c": never}, time.time() - 60)
    assert found == Known(measured={"a": new, "c": never}, before={"b": old})


def test_what_this_update_measured_is_shown_with_its_age() -> None:
    found = report(3)
    said = summary(Known(measured={"ndh100": found}))
    assert "ndh100: pass · 2 × V · rdma/shared_ib · 2 of 2 nodes, 16 of 16 HCAs · measured on " in said
    assert re.search(f"{re.escape(found['finished'])}, [0-9]+ seconds ago", said)


def test_an_update_that_measured_nothing_says_so_and_how_to_look_and_to_measure() -> None:
    said = summary(Known(before={"ndh100": report(700)}), look="make rehearse KEEP=1 REFRESH=1", measure=MEASURE)
    assert "nothing: everything was, when it was last looked at, as the program says" in said
    assert "ndh100: nothing was measured by this update. An earlier one says: pass, on " in said
    assert ", 11 minutes ago (2 of 2 nodes, 16 of 16 HCAs; 1 kind of check)" in said
    assert "to compare the cluster with the program: make rehearse KEEP=1 REFRESH=1\n" in said
    assert f"measure again: {MEASURE}\n" in said


def test_faults_that_were_set_after_a_measurement_are_named_beside_it_and_others_are_not() -> None:
    found, faults = Known(before={"ndh100": report(60)}), "link-down (node *1)"
    assert f"since then: faults were set: {faults}\n" in summary(found, faults=(faults, time.time()))
    assert "since then" not in summary(found, faults=(faults, time.time() - 600))


def test_an_update_that_failed_or_changed_something_says_that_the_verdict_is_from_before_that() -> None:
    said = summary(Known(before={"ndh100": report(60)}), failed=True, changed=3)
    assert "since then: this update failed; this update changed 3 resources\n" in said


def test_where_the_cluster_was_asked_nothing_is_to_be_asked() -> None:
    said = summary(Known(before={"ndh100": report(60)}))
    assert "nothing: everything is as the program says" in said
    assert "asks:" not in said


def test_what_failed_is_not_told_twice() -> None:
    failed = Known(measured={"ndh100": report(1, "fail", "hca-rate")})
    assert "hca-rate" in summary(failed)
    said = summary(failed, failed=True)
    assert "ndh100: fail" in said
    assert "hca-rate" not in said, "the program's explanation at the end has it"


def test_the_program_s_explanation_stands_in_place_of_all_that_the_provider_saw_while_it_waited() -> None:
    seen = "11 errors occurred:\n\t* Resource 'v-1' was created but failed to initialize\n\t* [Pod x]\n\t* [B] over"
    explained = "Waited in vain for job system/v-1. What the cluster shows:\n  - validation of pool ndh100: fail"
    other = "2 errors occurred:\n\t* Resource 'other' was created but failed to initialize\n\t* [P] unready"
    errors = [
        Diagnostic(severity="error", message=seen, urn=URN),
        Diagnostic(severity="error", message=other, urn=f"{URN}-2"),
        Diagnostic(severity="error", message=explained),
    ]
    console = Console(width=200, record=True, file=StringIO())
    print_failure(console, errors, logs=Path("/run"), command="x")
    said = console.export_text()
    assert "[Pod x]" not in said
    assert said.count("validation of pool ndh100: fail") == 1
    assert said.index("Job rdma-ndh100-validate:") < said.index("Waited in vain for job system/v-1")
    assert "[P] unready" in said, "nobody has explained that one"

    progress = Progress(console=Console(width=200, record=True, file=StringIO()))
    progress.show(errors[0])
    assert "[B] over …" in progress.console.export_text()


def test_an_empty_faults_file_is_no_faults(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text("# all is mended\n")
    assert read_file(tmp_path / "empty.yaml") == []


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
