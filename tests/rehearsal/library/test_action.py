"""The action that rehearses a pull request's stack: its two scripts, run as the forge runs them."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from rehearsal.tools.paths import PROJECT
from tests.rehearsal.stacks.conftest import copy_of_project

pytestmark = [pytest.mark.long, pytest.mark.timeout(1500)]
ACTION = PROJECT / ".github" / "actions" / "rehearse"


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables of the forge in a step of the action, after its first one, and another project than this."""
    folder = tmp_path_factory.mktemp("forge")
    outside = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
    files = {name: str(folder / name.lower()) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    project = copy_of_project(folder / "project")
    given = {**outside, **files, "GITHUB_ACTION_PATH": str(ACTION), "RUNNER_TEMP": str(folder), "PROJECT": str(project)}
    step(given, "install")
    return given


def step(forge: dict[str, str], name: str, code: int = 0, **more: str) -> str:
    """Run one script, in an empty folder; what it adds to the job's summary."""
    summary = Path(forge["GITHUB_STEP_SUMMARY"])
    before = summary.read_text() if summary.exists() else ""
    environment, place = {**forge, **more}, forge["RUNNER_TEMP"]
    done = subprocess.run(
        [str(ACTION / name)], cwd=place, env=environment, capture_output=True, text=True, check=False, timeout=1200
    )
    assert done.returncode == code, done.stdout + done.stderr
    return (summary.read_text() if summary.exists() else "").removeprefix(before)


def test_a_stack_that_passes_leaves_its_verdict_result_and_timeline(forge: dict[str, str]) -> None:
    said = step(forge, "rehearse", STACK="hbv4")
    assert said.startswith("### hbv4: succeeded in ")
    assert "| hbv4 | **pass** |" in said
    run = Path(forge["PROJECT"]) / ".rehearsal" / "hbv4"
    assert f"result={run / 'result.json'}" in Path(forge["GITHUB_OUTPUT"]).read_text()
    found: dict[str, Any] = json.loads((run / "result.json").read_text())
    assert found["status"] == "succeeded"
    assert (run / "timeline.png").is_file()


def test_a_stack_with_a_mistake_fails_and_the_summary_says_which(forge: dict[str, str]) -> None:
    file = Path(forge["PROJECT"]) / "Pulumi.wrong.yaml"
    document = yaml.safe_load((PROJECT / "Pulumi.hbv4.yaml").read_text())
    document["config"]["aks-infiniband:pools"][0]["count"] = 0
    file.write_text(yaml.safe_dump(document))
    said = step(forge, "rehearse", 1, STACK="wrong")
    assert said.startswith("### wrong: ")
    assert "aks-infiniband:pools[0].count" in said
    assert len(said.splitlines()) < 40, "it fits a screen"
