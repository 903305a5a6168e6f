"""Today's programs read the files of earlier releases: tests/releases."""

import json
from pathlib import Path

import pytest
import yaml
from aks_infiniband import load
from aks_infiniband.validation.reports import whole_report
from aks_infiniband_cli.main import main
from aks_infiniband_cli.report.sources import from_state

from declared.program import KUBECONFIG
from rehearsal.engine.events import Step
from rehearsal.outcome.reports import Known
from rehearsal.outcome.result import result
from rehearsal.tools.paths import PROJECT

RELEASES = sorted((PROJECT / "tests" / "releases").glob("[0-9]*"))
STACK_FILES = [file for release in RELEASES for file in sorted(release.glob("Pulumi.*.yaml"))]


@pytest.mark.parametrize("file", STACK_FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_stack_file_of_an_earlier_release_is_read(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text(KUBECONFIG)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(PROJECT)
    configuration = yaml.safe_load(file.read_text())["config"]
    stack = load(configuration)
    named = {pool["name"] for pool in configuration["aks-infiniband:pools"]}
    assert stack.pools
    assert {pool.name for pool in stack.pools} <= named


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
def test_the_reports_in_an_earlier_releases_state_are_read(release: Path) -> None:
    reports = from_state((release / "state.json").read_text())
    assert {pool: report["verdict"] for pool, report in reports.items()} == {"hb": "pass"}
    assert reports["hb"]["coverage"]["summary"].startswith("2 of 2 nodes")


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
def test_the_result_of_a_rehearsal_by_an_earlier_release_is_drawn(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--result", str(release / "result.json"), "--state", str(release / "resources.json")]
    assert main(["timeline", *files, "--out", str(tmp_path), "--output", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "ManagedCluster rdma" in {link["name"] for link in told["chain"]}
    assert (tmp_path / "timeline.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
def test_the_reports_in_such_a_result_are_whole(release: Path) -> None:
    validated = json.loads((release / "result.json").read_text())["validation"]
    assert {pool: whole_report(report)["verdict"] for pool, report in validated.items()} == {"hbv4": "pass"}


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
def test_todays_result_has_every_key_that_a_program_found_in_an_earlier_one(release: Path) -> None:
    earlier = json.loads((release / "result.json").read_text())
    step = Step(urn="urn:pulumi:dev::p::a:b:C::c", operation="create", begun=0.0, ended=1.0, custom=True)
    today = result(
        stack="dev", status="succeeded", begun=0, ended=1, steps=[step], outputs={}, known=Known(measured={}, before={})
    )
    assert earlier.keys() <= today.keys()
    assert earlier["resources"][0].keys() <= today["resources"][0].keys()
