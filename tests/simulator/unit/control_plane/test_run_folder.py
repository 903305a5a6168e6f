"""The folder of a run: emptied for a new one, never a folder of others."""

import json
import threading
from pathlib import Path

import pytest

from rehearsal.control_plane import RunFolder, RunFolderError
from rehearsal.run.folder import write_atomically


def test_a_new_run_finds_nothing_of_the_run_before(tmp_path: Path) -> None:
    run = RunFolder.at(tmp_path / "dev")
    run.prepare()
    run.run_json.write_text("{}")
    run.log("etcd").write_text("old")
    (run.etcd / "member").mkdir()
    run.prepare()
    assert not run.run_json.exists()
    assert not run.log("etcd").exists()
    assert list(run.etcd.iterdir()) == []


def test_who_needs_a_part_waits_until_it_serves(tmp_path: Path) -> None:
    run = RunFolder.at(tmp_path / "dev")
    run.prepare()
    waiting = threading.Thread(target=run.await_ready, args=("kube-apiserver",), daemon=True)
    waiting.start()
    waiting.join(timeout=0.1)
    assert waiting.is_alive()
    run.ready_file("kube-apiserver").touch()
    waiting.join(timeout=60)
    assert not waiting.is_alive()


def test_a_folder_with_somebodys_files_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(RunFolderError, match="holds files that no rehearsal put there"):
        RunFolder.at(tmp_path).prepare()
    assert (tmp_path / "thesis.txt").read_text() == "precious"


def test_a_file_is_no_run_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunFolderError, match="is not a folder"):
        RunFolder.at(tmp_path / "file").prepare()


def test_a_relative_path_becomes_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert RunFolder.at(".rehearsal/dev").root == tmp_path.resolve() / ".rehearsal" / "dev"


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "ready"
    write_atomically(path, json.dumps({"port": 1}), mode=0o600)
    write_atomically(path, json.dumps({"port": 2}), mode=0o600)
    assert json.loads(path.read_text()) == {"port": 2}
    assert oct(path.stat().st_mode & 0o777) == "0o600"
    assert [entry.name for entry in tmp_path.iterdir()] == ["ready"]


def test_run_json_that_is_not_there_or_half_written_says_nothing(tmp_path: Path) -> None:
    run = RunFolder.at(tmp_path)
    assert run.read_run_json() == {}
    run.run_json.write_text('{"state": "rea')
    assert run.read_run_json() == {}
