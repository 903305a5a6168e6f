"""Where a rehearsal cannot write, one sentence says so."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rehearsal.cli import RUNS
from rehearsal.control_plane import ControlPlane, ControlPlaneError, RunFolder, client
from rehearsal.tools.paths import PROJECT
from tests.rehearsal.control_plane.asking import LIMIT_S, failure_of

PROGRAM = PROJECT / "tests/rehearsal/stacks/program"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("/sys", "rehearsal: Operation not permitted"),  # not even root makes a folder there
        ("/dev/null", "rehearsal: Not a directory"),
    ],
    ids=["read-only", "a file"],
)
def test_a_folder_that_cannot_be_made_is_named_in_one_sentence(tmp_path: Path, place: str, said: str) -> None:
    checkout = shutil.copytree(PROGRAM, tmp_path / "checkout")
    (checkout / RUNS).symlink_to(place)
    command = [sys.executable, "-m", "rehearsal", "--project", str(checkout), "up", "one"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == ""
    assert done.stdout.startswith(said)
    assert f"{place}/one" in done.stdout
    assert len(done.stdout.splitlines()) == 1


def test_a_disk_that_is_almost_full_is_named_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "free_mb", lambda _: 60)
    with pytest.raises(ControlPlaneError, match=f"the disk of {tmp_path}/run has 60 MB left, and a rehearsal takes"):
        ControlPlane.start(tmp_path / "run")
    assert not (tmp_path / "run/etcd").exists()


def test_a_disk_that_fills_up_meanwhile_is_named_before_what_died_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "free_mb", lambda _: 0)
    died = json.dumps({"event": "part-died", "error": "etcd was ended by SIGABRT"})
    command, pipe = [sys.executable, "-c", f"print({died!r})"], subprocess.PIPE
    supervisor = subprocess.Popen(command, stdin=pipe, stdout=pipe)
    said = failure_of(ControlPlane(RunFolder.at(tmp_path), supervisor))
    assert supervisor.stdin is not None
    supervisor.stdin.close()
    supervisor.wait(LIMIT_S)
    assert said == f"the disk of {tmp_path} is full: make room there. etcd was ended by SIGABRT"
