"""`python -m tests.releases`, on a copy of the files that it changes."""

import re
import shutil
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rehearsal.tools.paths import PROJECT

DISTRIBUTIONS = ("components", "command_line", "rehearsal", "rehearsal/tools/distribution")
FILES = (*(f"{name}/pyproject.toml" for name in DISTRIBUTIONS), "CHANGELOG.md", "tests/releases/__main__.py")
NEXT = "7.0.0"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in (*FILES, *(path.name for path in PROJECT.glob("Pulumi.*.yaml"))):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, tmp_path / name)
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text(changelog.read_text().replace("## [Unreleased]\n", "## [Unreleased]\n\n- New.\n"))
    return tmp_path


def release(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.releases", *arguments]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)


def packaging(checkout: Path, folder: str) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((checkout / folder / "pyproject.toml").read_text())["project"]
    return found


def test_the_three_distributions_get_the_version_and_ask_for_each_other_in_it(checkout: Path) -> None:
    before = packaging(checkout, "components")["version"]
    assert release(checkout, NEXT).returncode == 0
    assert {packaging(checkout, folder)["version"] for folder in DISTRIBUTIONS} == {NEXT}
    ours = [
        asked
        for folder in DISTRIBUTIONS
        for asked in packaging(checkout, folder)["dependencies"]
        if asked.startswith("aks-infiniband")
    ]
    assert ours
    assert all(asked.endswith(f"=={NEXT}") for asked in ours)
    for folder in DISTRIBUTIONS:
        text = (checkout / folder / "pyproject.toml").read_text()
        assert text.replace(NEXT, before) == (PROJECT / folder / "pyproject.toml").read_text(), "nothing else changes"


def test_what_was_unreleased_gets_the_version_and_todays_date(checkout: Path) -> None:
    begun = datetime.now(UTC).date()
    assert release(checkout, NEXT).returncode == 0
    changelog = (checkout / "CHANGELOG.md").read_text()
    unreleased, dated = re.findall(r"^## \[.+$", changelog, re.MULTILINE)[:2]
    assert unreleased == "## [Unreleased]"
    assert dated in {f"## [{NEXT}] - {day}" for day in (begun, datetime.now(UTC).date())}
    assert f"{unreleased}\n\n{dated}\n\n- New.\n" in changelog


def test_the_stack_files_are_kept_for_the_releases_that_follow(checkout: Path) -> None:
    assert release(checkout, NEXT).returncode == 0
    kept = {path.name: path.read_text() for path in (checkout / "tests" / "releases" / NEXT).iterdir()}
    assert kept == {path.name: path.read_text() for path in PROJECT.glob("Pulumi.*.yaml")}


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("0.0.1", "version 0.0.1 must be above"),
        ("seven", "must be three numbers, such as 0.3.0"),
        ("7.0.0 ", "must be three numbers, such as 0.3.0"),
    ],
)
def test_a_version_that_cannot_be_is_refused_before_a_file_changes(checkout: Path, version: str, message: str) -> None:
    before = {name: (checkout / name).read_text() for name in FILES}
    refused = release(checkout, version)
    assert (refused.returncode, message in refused.stderr) == (1, True)
    assert {name: (checkout / name).read_text() for name in FILES} == before


def test_a_release_of_nothing_is_refused(checkout: Path) -> None:
    assert release(checkout, NEXT).returncode == 0
    again = release(checkout, "8.0.0")
    assert (again.returncode, "nothing under Unreleased" in again.stderr) == (1, True)
