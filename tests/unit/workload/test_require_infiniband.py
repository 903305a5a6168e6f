"""The check before a program: a real shell on a machine's files, and what it says."""

import os
import subprocess
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest


@pytest.fixture
def worker(tmp_path: Path) -> Callable[[str], tuple[list[str], str]]:
    """Runs an MPI worker with a check: with which arguments it has started sshd, and what it said."""

    def run(check: str) -> tuple[list[str], str]:
        sshd = tmp_path / "bin" / "sshd"
        sshd.parent.mkdir(exist_ok=True)
        sshd.write_text('#!/bin/sh\nprintf "%s\\n" "$0" "$@"\n')
        sshd.chmod(0o755)
        text = (resources.files("aks_infiniband.workload") / "mpi_worker.sh").read_text()
        text = text.replace("/tmp/", f"{tmp_path}/")
        environment = {"PATH": f"{sshd.parent}:{os.environ['PATH']}"}
        command = ["sh", "-c", text, "sh", check]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=30)
        program, *arguments = done.stdout.splitlines()
        assert program == str(sshd), "sshd wants its absolute path"
        return arguments, done.stderr

    return run


def test_an_mpi_worker_that_passes_the_check_lets_mpirun_in(worker: Callable[[str], tuple[list[str], str]]) -> None:
    assert worker("echo fine") == (["-De"], "")


def test_an_mpi_worker_that_fails_the_check_gives_every_login_its_words_and_an_error(
    worker: Callable[[str], tuple[list[str], str]],
) -> None:
    arguments, said = worker("echo 'no link is ACTIVE' >&2; exit 1")
    assert said == "no link is ACTIVE\n"
    (forced,) = [word.removeprefix("ForceCommand=") for word in arguments if word.startswith("ForceCommand=")]
    login = subprocess.run(["sh", "-c", forced], capture_output=True, text=True, check=False)
    assert (login.returncode, login.stderr) == (1, "no link is ACTIVE\n")
