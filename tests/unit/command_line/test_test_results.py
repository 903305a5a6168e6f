"""Reports as JUnit XML and CTRF JSON: every check is a case, and no case says better than the report."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree as ET

import pytest
from aks_infiniband.validation.payload.say.checks import make_check, not_measured
from aks_infiniband_cli.main import main
from aks_infiniband_cli.report import files, sources
from aks_infiniband_cli.test_results.cases import OUTCOMES, Suite, suite
from aks_infiniband_cli.test_results.ctrf import ctrf
from aks_infiniband_cli.test_results.junit import junit
from aks_infiniband_cli.validate import rendering, run, validating
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from junitparser import JUnitXml

from tests.unit.command_line.test_report_page import report
from tests.unit.command_line.validations import found_in, kubeconfig_in, node, validation

CHECKS = [
    make_check("shm", "pass", node="aks-a", expected=1, measured=1),
    make_check("hca-rate", "fail", node="aks-a", device="mlx5_3", expected=400, measured=200, cause="a bad cable"),
    make_check("all-reduce", "warn", expected="at least 360 GB/s", measured=320.0, unit="GB/s", cause="half as fast"),
    not_measured("memlock", "aks-b did not answer", node="aks-b"),
    not_measured("nvlink", None),
    make_check("all-reduce-small", "not judged", expected=None, measured=3.0, unit="GB/s"),
]
RELEASES = sorted((Path(__file__).parents[2] / "releases").glob("[0-9]*"))
WRITTEN = datetime(2026, 11, 28, 12, tzinfo=UTC)

STATUS = {"enum": ["passed", "failed", "skipped", "pending", "other"]}
TEXT = {"type": "string", "minLength": 1}
COUNT = {"type": "integer"}


def only(required: dict[str, Any], **others: Any) -> dict[str, Any]:
    """An object with these keys, and no others."""
    keys = {"properties": {**required, **others}, "required": list(required)}
    return {"type": "object", "additionalProperties": False, **keys}


CTRF = only(
    {
        "reportFormat": {"const": "CTRF"},
        "specVersion": {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
        "results": only(
            {
                "tool": only({"name": TEXT}, version={"type": "string"}),
                "summary": only(
                    dict.fromkeys(("tests", "passed", "failed", "skipped", "pending", "other", "start", "stop"), COUNT),
                    suites=COUNT,
                ),
                "tests": {
                    "type": "array",
                    "items": only(
                        {"name": TEXT, "status": STATUS, "duration": COUNT},
                        rawStatus={"type": "string"},
                        suite={"type": "array", "minItems": 1, "items": {"type": "string"}},
                        message={"type": "string"},
                        extra={"type": "object"},
                    ),
                },
            }
        ),
    },
    timestamp={"type": "string"},
    generatedBy={"type": "string"},
)
"""The keys that the published schema demands, and those of the allowed ones that we write.

Source: schema/ctrf.schema.json of https://github.com/ctrf-io/ctrf, read on 2026-11-28.
"""


def suite_of(*checks: Any, verdict: str = "fail", **changes: Any) -> Suite:
    made = report(checks=list(checks), verdict=verdict, **changes)
    return suite("ndh100", verdict, ["pool ndh100"], cast("Any", made))


def test_every_check_is_a_case_with_its_node_and_device_and_what_it_says() -> None:
    root = ET.fromstring(junit([suite_of(*CHECKS)]))
    [pool] = root
    assert (pool.get("name"), pool.get("timestamp")) == ("ndh100", "2026-11-21T15:00:00+00:00")
    counts = {"tests": "7", "failures": "2", "skipped": "3", "errors": "0"}
    assert {key: root.get(key) for key in counts} == {key: pool.get(key) for key in counts} == counts
    cases = {(case.get("classname"), case.get("name")): case for case in pool}
    slow = cases["ndh100.aks-a", "hca-rate (mlx5_3)"].find("failure")
    assert slow is not None
    assert slow.get("message") == "fail: expected 400, measured 200 - a bad cable"
    skipped = {name: str(case.findall("skipped")[0].get("message")) for (_, name), case in cases.items() if
               case.findall("skipped")}  # fmt: skip
    assert skipped["memlock"] == "not measured: aks-b did not answer"
    assert skipped["nvlink"].startswith("not measured: by design")
    assert skipped["all-reduce-small"] == "not judged: expected nothing, measured 3.0 GB/s"


def test_a_warning_passes_and_says_so() -> None:
    root = ET.fromstring(junit([suite_of(*CHECKS)]))
    [warned] = [case for case in root.iter("testcase") if case.get("name") == "all-reduce"]
    assert [part.tag for part in warned] == ["system-out"]
    assert warned[0].text == "warn: expected at least 360 GB/s, measured 320.0 GB/s - half as fast"
    [test] = [test for test in cases_in(suite_of(*CHECKS)) if test["name"] == "all-reduce"]
    assert (test["status"], test["rawStatus"]) == ("passed", "warn")


def cases_in(*suites: Suite) -> list[dict[str, Any]]:
    document = ctrf(suites, WRITTEN)
    Draft7Validator(CTRF).validate(document)
    found: list[dict[str, Any]] = document["results"]["tests"]
    return found


def test_a_document_of_ctrf_is_what_its_schema_demands() -> None:
    document = ctrf([suite_of(*CHECKS), suite_of(verdict="not measured", finished="")], WRITTEN)
    Draft7Validator(CTRF).validate(document)
    summary, tests = document["results"]["summary"], document["results"]["tests"]
    counts = {"tests": 8, "passed": 2, "failed": 2, "skipped": 4, "pending": 0, "other": 0, "suites": 2}
    measured = round(datetime(2026, 11, 21, 15, tzinfo=UTC).timestamp() * 1000)
    assert summary == {**counts, "start": measured, "stop": measured}
    slow = tests[2]
    assert (slow["name"], slow["suite"]) == ("hca-rate (mlx5_3) on aks-a", ["ndh100", "aks-a"])
    assert slow["extra"] == {"pool": "ndh100", "check": "hca-rate", "node": "aks-a", "device": "mlx5_3"}


def test_a_run_in_which_nothing_was_measured_has_the_time_of_its_document() -> None:
    summary = ctrf([suite_of(verdict="not measured", finished="")], WRITTEN)["results"]["summary"]
    assert summary["start"] == summary["stop"] == round(WRITTEN.timestamp() * 1000)


@pytest.mark.parametrize("verdict", OUTCOMES)
def test_the_pools_verdict_is_a_case_whatever_its_checks_say(verdict: str) -> None:
    found = suite_of(CHECKS[0], verdict=verdict)
    assert [test["status"] for test in cases_in(found)] == [OUTCOMES[verdict], "passed"]


@given(st.lists(st.tuples(st.text(st.characters()), st.text(st.characters()), st.sampled_from(list(OUTCOMES)))))
def test_whatever_others_wrote_both_documents_can_be_read_and_say_the_same(checks: list[tuple[str, str, str]]) -> None:
    made = [
        make_check("odd", verdict, node=place, device=place, expected=text, measured=text, cause=text)
        for place, text, verdict in checks
    ]
    found = suite_of(*made)
    told = Counter(test["status"] for test in cases_in(found))
    whole = JUnitXml.fromstring(junit([found]).encode("utf-8"))
    assert (whole.tests, whole.failures, whole.skipped) == (len(made) + 1, told["failed"], told["skipped"])


def kept_in(folder: Path, **changes: Any) -> Path:
    file = folder / "measured.json"
    file.write_text(json.dumps(report(checks=CHECKS, **changes)))
    return file


def test_test_results_are_written_from_a_file_without_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "write", lambda *_: pytest.fail("nobody wants a page"))
    results = [tmp_path / "junit.xml", tmp_path / "ctrf.json"]
    flags = ["--junit", str(results[0]), "--ctrf", str(results[1])]
    assert main(["report", "--report", str(kept_in(tmp_path)), *flags, "--output", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["files"] == [str(file) for file in results]
    assert len(list(JUnitXml.fromfile(str(results[0])))) == 1
    document = json.loads(results[1].read_text())
    Draft7Validator(CTRF).validate(document)
    assert document["results"]["summary"]["failed"] == 2


def test_machines_of_which_more_is_known_since_are_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    since = {"pool": "ndh100", "node": "aks-c", "verdict": "fail", "what": "slow", "decided": "let in"}
    monkeypatch.setattr(sources, "from_cluster", lambda *_, **__: {"ndh100": report(verdict="pass", checks=[])})
    monkeypatch.setattr(sources, "replaced_in", lambda *_, **__: [])
    monkeypatch.setattr(sources, "machines_in", lambda *_, **__: [since, {**since, "pool": "another"}])
    file = tmp_path / "junit.xml"
    assert main(["report", "--kubeconfig", str(kubeconfig_in(tmp_path)), "--junit", str(file)]) == 1
    root = ET.parse(file).getroot()
    assert [(case.get("classname"), case.get("name")) for case in root.iter("testcase")] == [
        ("ndh100", "verdict"),
        ("ndh100.aks-c", "since then"),
    ]
    assert [part.get("message") for part in root.iter("failure")] == ["fail: slow; let in"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ([], "give --out FOLDER, --junit FILE or --ctrf FILE"),
        (["--junit", "measured.json"], "measured.json is there already, and is not overwritten: --junit names"),
        (["--ctrf", "gone/ctrf.json"], "gone/ctrf.json cannot be made: the folder gone does not exist; --ctrf names"),
        (["--junit", "a", "--ctrf", "./a"], "a is named by --junit and --ctrf: give each its own file"),
    ],
)
def test_files_that_cannot_be_made_are_refused_before_anything_is_read(
    flags: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    kept_in(tmp_path)
    monkeypatch.setattr(sources, "from_file", lambda *_: pytest.fail("it was read"))
    assert main(["report", "--report", "measured.json", *flags]) == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["measured.json"]


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A cluster with a pool of four nodes, of which two are there and pass what is measured of them."""
    monkeypatch.chdir(tmp_path)
    measured: Any = {**report(verdict="pass", checks=CHECKS[:1]), "networks": []}
    monkeypatch.setattr(validating, "read_cluster", lambda *_: ({"ndh100": validation()}, [node("a"), node("b")], []))
    monkeypatch.setattr(validating, "operators_in", lambda _: set())
    monkeypatch.setattr(validating, "measure", lambda *_: {"ndh100": run.Measured(report=measured)})
    return ["validate", "--kubeconfig", str(kubeconfig_in(tmp_path))]


def test_a_pool_whose_checks_pass_fails_as_a_case_too_if_machines_are_missing(
    cluster: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*cluster, "--junit", "junit.xml", "--ctrf", "ctrf.json"]) == 1
    assert "kept: junit.xml\nkept: ctrf.json\n" in capsys.readouterr().err
    root = ET.parse("junit.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("2", "1")
    [failure] = root.iter("failure")
    assert "2 of 4 nodes missing" in str(failure.get("message"))
    assert json.loads(Path("ctrf.json").read_text())["results"]["summary"]["failed"] == 1


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--uncordon", "--junit", "a"], "--junit: --uncordon measures nothing"),
        (["--out", "a", "--junit", "a"], "a is named by --out and --junit"),
        (["--out", "gone/a"], "the folder gone does not exist; --out names another file"),
    ],
)
def test_files_that_cannot_be_made_are_refused_before_anything_is_measured(
    flags: list[str],
    said: str,
    cluster: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(validating, "read_cluster", lambda *_: pytest.fail("it was read"))
    assert main([*cluster, *flags]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
def test_no_two_cases_of_a_rehearsals_report_have_the_same_name(release: Path) -> None:
    reports = json.loads((release / "result.json").read_text())["validation"]
    found = [suite(pool, made["verdict"], [], made) for pool, made in reports.items()]
    names = Counter((case.get("classname"), case.get("name")) for case in ET.fromstring(junit(found)).iter("testcase"))
    assert len(names) > 20
    assert [name for name, times in names.items() if times > 1] == []


def test_a_node_that_could_not_be_measured_is_named_by_the_verdict_and_the_pool_does_not_pass() -> None:
    document = json.loads((Path(__file__).parent / "validated.json").read_text())["cordon"]
    document["pools"]["hbv4"] |= {"left_out": [{"node": "aks-x", "why": "it is not Ready", "busy": False}]}
    document["pools"]["hbv4"]["report"]["checks"] = []
    [pool] = found_in(document).pools
    [verdict] = rendering.suite_of(pool).cases
    assert (verdict.verdict, verdict.outcome) == ("not measured", "skipped")
    assert verdict.told.endswith("; left out: aks-x: it is not Ready")
