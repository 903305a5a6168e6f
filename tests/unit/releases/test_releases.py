"""What earlier releases wrote is read by today's programs: tests/releases."""

from pathlib import Path

import pytest
import yaml
from aks_infiniband import load
from aks_infiniband_cli.report.sources import from_state

from declared.program import KUBECONFIG
from rehearsal.tools.paths import PROJECT

RELEASES = sorted(path for path in (PROJECT / "tests" / "releases").iterdir() if path.is_dir())
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
