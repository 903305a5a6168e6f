"""The commands that a rehearsal prints work in whatever folder a shell is: they name every folder."""

import shlex
import subprocess
from pathlib import Path

import pytest

from rehearsal.run.commands import RUNS, command_line, make, module, stop
from rehearsal.tools.paths import PROJECT


def test_a_stack_of_this_checkout_is_stopped_by_its_make() -> None:
    assert stop(PROJECT / RUNS / "dev") == f"make -C {shlex.quote(str(PROJECT))} rehearse-down STACK=dev"


@pytest.mark.parametrize("name", ["elsewhere", 'it\'s a "folder"'])
def test_a_stack_of_another_program_is_stopped_by_the_command_that_is_printed(name: str, tmp_path: Path) -> None:
    run = tmp_path / name / RUNS / "prod"
    run.mkdir(parents=True)
    assert ran(stop(run), tmp_path) == "prod: nothing is running\n"


def test_so_is_a_run_folder_that_a_program_has_chosen(tmp_path: Path) -> None:
    assert ran(stop(tmp_path / "run"), tmp_path) == ""


def test_a_file_in_a_command_of_make_keeps_its_name() -> None:
    words = shlex.split(make("rehearse", STACK="dev", FAULTS="/my faults.yaml"))
    assert words[-2:] == ["STACK=dev", "FAULTS=/my faults.yaml"]


def test_a_module_runs_wherever_the_shell_is(tmp_path: Path) -> None:
    assert "usage: rehearsal" in ran(module("rehearsal", "--help"), tmp_path)


def test_a_command_of_the_command_line_runs_wherever_the_shell_is(tmp_path: Path) -> None:
    assert "usage: aks-infiniband validate" in ran(command_line("validate", "--help"), tmp_path)
    assert command_line("validate", "--kubeconfig", Path("/a b")).endswith(" validate --kubeconfig '/a b'")


def ran(command: str, folder: Path) -> str:
    """The output of a command in a shell in a folder; it must succeed."""
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout
