"""Where a rehearsal cannot write, one sentence says so."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rehearsal.cli import RUNS
from rehearsal.control_plane import ControlPlane, ControlPlaneError, client
from rehearsal.tools.paths import PROJECT

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
