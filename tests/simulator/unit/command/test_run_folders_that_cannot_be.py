"""If a rehearsal cannot write, one sentence says so."""

import errno
import json
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from rehearsal.cli.command import main
from rehearsal.control_plane import ControlPlane, ControlPlaneError, RunFolder, client
from rehearsal.run.commands import RUNS
from rehearsal.session import Rehearsal
from rehearsal.tools.paths import PROJECT
from tests.rehearsal.poor_place import REFUSED, command_in
from tests.simulator.engine.control_plane.asking import LIMIT_S, failure_of

PROGRAM = PROJECT / "tests/simulator/engine/program"


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


@pytest.mark.parametrize("event", [{"event": "part-died", "error": "etcd was ended by SIGABRT"}, {"event": "kept"}])
def test_a_disk_that_fills_up_meanwhile_is_named_whether_or_not_a_part_dies_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, event: dict[str, str]
) -> None:
    monkeypatch.setattr(client, "free_mb", lambda _: 0)
    command = [sys.executable, "-c", f"import sys; print({json.dumps(event)!r}, flush=True); sys.stdin.read()"]
    supervisor = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    said = failure_of(ControlPlane(RunFolder.at(tmp_path), supervisor))
    assert supervisor.stdin is not None
    supervisor.stdin.close()
    supervisor.wait(LIMIT_S)
    assert said == f"the disk of {tmp_path} is full: make room there"


def test_a_full_disk_is_named_where_the_error_names_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_: Rehearsal) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Rehearsal, "check_files", full)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert main(["--project", str(tmp_path), "up", "one"]) == 1
    assert capsys.readouterr().out == f"rehearsal: No space left on device ({tmp_path / RUNS})\n"


def run_poor(folder: Path, *command: str, room: int = 0) -> "subprocess.CompletedProcess[str] | None":
    """Run a command in a place with few rights; None, and a warning, if this kernel lets no user make such a place."""
    folder.mkdir(exist_ok=True)

    def run(*words: str, room: int = 0) -> "subprocess.CompletedProcess[str]":
        line = command_in(folder, *words, room=room)
        return subprocess.run(line, cwd=PROJECT, capture_output=True, text=True, check=False)

    if REFUSED not in run("proofs").stderr:
        return run(*command, room=room)
    warnings.warn(f"NOT PROVEN on this machine: {REFUSED}", stacklevel=2)
    return None


not_proven_is_shown = pytest.mark.filterwarnings("always:NOT PROVEN")


@not_proven_is_shown
def test_in_the_poor_place_nothing_works_but_to_write_in_its_folder(tmp_path: Path) -> None:
    """The rehearsals that pass there prove nothing if this does not hold."""
    done = run_poor(tmp_path / "folder", "proofs")
    if done is not None:
        assert json.loads(done.stdout) == {
            "the user's name": "KeyError",
            "the home folder": "RuntimeError",
            "capabilities": "",
            "a user namespace": "Operation not permitted",
            "another computer": "Network is unreachable",
            "a file in the checkout": "Read-only file system",
            "a file in /tmp": "Read-only file system",
            "a file in TMPDIR": "No space left on device",
            "a file in the folder": "works",
        }, done.stderr


@not_proven_is_shown
@pytest.mark.parametrize(
    ("room", "said"),
    [
        (0, "rehearsal: Read-only file system ({runs}/one)"),
        (8192, "rehearsal: No space left on device"),
        (
            100 << 20,
            "rehearsal: the disk of {runs}/one has 99 MB left, and a rehearsal takes up to 300: make room there",
        ),
    ],
    ids=["read-only", "full", "almost full"],
)
def test_where_no_rehearsal_has_room_one_sentence_says_so(tmp_path: Path, room: int, said: str) -> None:
    checkout = shutil.copytree(PROGRAM, tmp_path / "checkout")
    (checkout / RUNS).mkdir()
    up = [sys.executable, "-m", "rehearsal", "--project", str(checkout), "up", "one"]
    done = run_poor(checkout / RUNS if room else tmp_path / "elsewhere", *up, room=room)
    if done is not None:
        *begun, last = done.stdout.splitlines()
        assert (done.returncode, done.stderr, last[: len(said.format(runs=checkout / RUNS))]) == (
            1, "", said.format(runs=checkout / RUNS),
        )  # fmt: skip
        assert len(begun) <= 1
