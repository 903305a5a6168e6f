"""`make check` runs every check and says at the end what failed."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Stand-ins for the checkers: all of them pass."""
    for name in ("ruff", "mypy", "lint-imports", "sphinx-build", "python", "codespell", "zizmor", "check-jsonschema"):
        tool(tmp_path, name, exit_status=0)
    return tmp_path


def tool(folder: Path, name: str, *, exit_status: int) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\necho {name} has spoken\nexit {exit_status}\n")
    program.chmod(0o755)


def check(tools: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / ".ci" / "check"], env={**os.environ, "BIN": str(tools)}, capture_output=True, text=True, check=False
    )


def test_checks_that_pass_are_a_line_each(tools: Path) -> None:
    done = check(tools)

    assert done.returncode == 0
    assert {line.split()[0] for line in done.stdout.splitlines()} == {"ok"}


def test_a_failing_check_stops_no_other_and_all_failures_are_listed_at_the_end(tools: Path) -> None:
    tool(tools, "ruff", exit_status=1)
    tool(tools, "lint-imports", exit_status=1)

    done = check(tools)

    assert done.returncode == 1
    assert "ok      types" in done.stdout
    assert "ruff has spoken" in done.stdout
    assert done.stdout.splitlines()[-4:] == [
        "3 of the checks failed:",
        "  lint (make fix corrects most of it)",
        "  format (make fix corrects it)",
        "  layers",
    ]


def test_what_runs_beside_the_other_checks_is_shown_and_listed_too(tools: Path) -> None:
    tool(tools, "mypy", exit_status=1)
    tool(tools, "python", exit_status=1)

    done = check(tools)

    assert done.returncode == 1
    assert {"ok      layers", "mypy has spoken", "python has spoken"} <= set(done.stdout.splitlines())
    assert {"  types", "  style of texts (STYLE.md)", "  tests can be collected"} <= set(
        done.stdout.split("checks failed:")[1].splitlines()
    )
