"""One command at a time on a stack's run folder, and the end of what a killed one has left."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rehearsal.control_plane import ENVIRONMENT_VARIABLE, BusyError, RunFolder, RunFolderError, the_only_command
from tests.rehearsal.waiting import eventually

HOLDS = """
import sys
from rehearsal.control_plane import RunFolder, the_only_command
with the_only_command(RunFolder.at(sys.argv[1])):
    print("holds", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder.at(tmp_path / "dev")


@pytest.fixture
def other(run: RunFolder) -> Iterator["subprocess.Popen[str]"]:
    """Another command that holds the folder."""
    command = [sys.executable, "-c", HOLDS, str(run.root)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "holds\n"
        yield process
        process.kill()


def test_a_second_command_is_told_who_holds_the_stack(run: RunFolder, other: "subprocess.Popen[str]") -> None:
    with pytest.raises(BusyError, match=f"works on stack dev \\(process {other.pid}, since .*down --run {run.root}"):
        the_only_command(run).__enter__()


def test_a_command_that_was_killed_holds_nothing(run: RunFolder, other: "subprocess.Popen[str]") -> None:
    other.kill()
    other.wait()
    with the_only_command(run):
        run.prepare()  # the lock lies in the folder, and stays
        with pytest.raises(BusyError):
            the_only_command(run).__enter__()


def test_what_a_killed_command_has_left_is_ended_the_data_centre_is_not(run: RunFolder) -> None:
    run.claim()
    environment = {**os.environ, ENVIRONMENT_VARIABLE: str(run.root)}
    engine, supervisor = (subprocess.Popen(["sleep", "600"], env=environment) for _ in range(2))
    run.run_json.write_text(json.dumps({"supervisor": supervisor.pid, "kept": True, "state": "ready"}))
    try:
        with the_only_command(run):
            assert engine.poll() is not None
            assert supervisor.poll() is None
    finally:
        supervisor.kill()
        supervisor.wait()


SUPERVISES = """
import fcntl, json, os, subprocess, sys
lock, file = open(sys.argv[1], "a"), sys.argv[2]
fcntl.flock(lock, fcntl.LOCK_EX)
server = subprocess.Popen(["sh", "-c", "trap '' TERM; echo supervises; while :; do sleep 1; done"])
facts = {"kept": True, "state": "ready", "supervisor": os.getpid(), "ports": {"kube-apiserver": int(sys.argv[3])}}
def save(**changes):
    with open(file + ".draft", "w") as draft:
        json.dump(facts | {"parts": {"kube-apiserver": {"pid": server.pid}}} | changes, draft)
    os.replace(file + ".draft", file)
save()
server.wait()
save(state="failed")
sys.stdin.readline()
"""
"""A supervisor of an API server that got the signal to end, takes its time, and listens no more."""


def test_a_kept_data_centre_whose_api_server_is_ending_has_ended_when_the_next_command_begins(run: RunFolder) -> None:
    run.claim()
    environment = {**os.environ, ENVIRONMENT_VARIABLE: str(run.root)}
    with socket.socket() as silent:  # bound, without a listener
        silent.bind(("127.0.0.1", 0))
        port = str(silent.getsockname()[1])
        command = [sys.executable, "-c", SUPERVISES, str(run.lock), str(run.run_json), port]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as supervisor:
            assert supervisor.stdin is not None
            assert supervisor.stdout is not None
            assert supervisor.stdout.readline() == "supervises\n"
            eventually(lambda: run.read_run_json().get("state") == "ready", seconds=60)
            with the_only_command(run):
                assert run.read_run_json()["state"] == "failed"
            supervisor.stdin.close()


def test_a_folder_of_somebodys_own_is_not_taken_although_it_looks_like_one_of_ours(run: RunFolder) -> None:
    (run.root / "logs").mkdir(parents=True)
    (run.root / "logs" / "letter").write_text("precious")
    (run.root / "run.json").write_text('{"distance": 42}')
    for take in (run.prepare, lambda: the_only_command(run).__enter__()):
        with pytest.raises(RunFolderError, match="holds files that no rehearsal put there"):
            take()
    assert (run.root / "logs" / "letter").read_text() == "precious"


def test_a_run_folder_is_its_owners_alone(run: RunFolder) -> None:
    run.claim()
    assert oct(run.root.stat().st_mode & 0o777) == "0o700"
