"""Reports as JUnit XML and CTRF JSON: every check is a case, and no case says better than the report."""

import json
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from aks_infiniband.validation.payload.say.checks import make_check
from aks_infiniband_cli.main import main
from aks_infiniband_cli.report import files, sources
from aks_infiniband_cli.test_results.cases import OUTCOMES, suite
from aks_infiniband_cli.test_results.junit import junit
from aks_infiniband_cli.validate import rendering
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from junitparser import JUnitXml

from tests.unit.command_line.cases.clusters import patch_cluster
from tests.unit.command_line.cases.reports import SCHEMA, results_in, suite_of
from tests.unit.command_line.test_report_page import report
from tests.unit.command_line.validations import found_in, kubeconfig_in

CHECKS = [
    make_check("shm", "pass", node="aks-a", expected=1, measured=1),
    make_check("hca-rate", "fail", node="aks-a", device="mlx5_3", expected=400, measured=200, cause="a bad cable"),
]
RELEASES = sorted((Path(__file__).parents[2] / "releases").glob("[0-9]*"))


@given(st.lists(st.tuples(st.text(st.characters()), st.text(st.characters()), st.sampled_from(list(OUTCOMES)))))
def test_whatever_others_wrote_both_documents_can_be_read_and_say_the_same(checks: list[tuple[str, str, str]]) -> None:
    made = [
        make_check("odd", verdict, node=place, device=place, expected=text, measured=text, cause=text)
        for place, text, verdict in checks
    ]
    found = suite_of(*made)
    told = Counter(test["status"] for test in results_in(found))
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
    Draft7Validator(SCHEMA).validate(document)
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


def test_a_pool_whose_checks_pass_fails_as_a_case_too_if_machines_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    patch_cluster({"nodes": {"a": {}, "b": {}}, "measured": {"verdict": "pass", "checks": CHECKS[:1]}}, monkeypatch)
    flags = ["--junit", "junit.xml", "--ctrf", "ctrf.json"]
    assert main(["validate", "--kubeconfig", str(kubeconfig_in(tmp_path)), *flags]) == 1
    assert "kept: junit.xml\nkept: ctrf.json\n" in capsys.readouterr().err
    root = ET.parse("junit.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("2", "1")
    [failure] = root.iter("failure")
    assert "2 of 4 nodes missing" in str(failure.get("message"))
    assert json.loads(Path("ctrf.json").read_text())["results"]["summary"]["failed"] == 1


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
