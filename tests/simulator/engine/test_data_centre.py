"""The data centre around a program: its ports, the continuation of one that was kept, and its end.

Each test starts it by hand, because it is what they test.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from rehearsal.control_plane import ALL_PARTS, ControlPlaneError, RunFolder, down
from rehearsal.control_plane.processes import processes_of_run
from rehearsal.session import Rehearsal
from rehearsal.tools.paths import PROJECT
from tests.rehearsal.stacks.conftest import SPEED, copy_of_project
from tests.rehearsal.waiting import eventually


@pytest.fixture
def rehearsal(tmp_path: Path) -> Rehearsal:
    return Rehearsal(
        project=copy_of_project(tmp_path / "project"), stack="dev", run=RunFolder.at(tmp_path / "run"), speed=SPEED
    )


def no_process_listens_elsewhere_and_every_key_is_its_owners_alone(rehearsal: Rehearsal) -> None:
    parts = rehearsal.run.read_run_json()["parts"]
    assert set(parts) == set(ALL_PARTS)
    addresses = {
        (name, connection.laddr.ip.removeprefix("::ffff:"))
        for name, part in parts.items()
        for process in [psutil.Process(part["pid"]), *psutil.Process(part["pid"]).children(recursive=True)]
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert {address for _, address in addresses} == {"127.0.0.1"}
    assert {"azure", "machines", "kube-apiserver"} <= {name for name, _ in addresses}
    folders = [path for path in rehearsal.run.root.iterdir() if path.is_dir()]
    assert {oct(path.stat().st_mode & 0o777) for path in folders} == {"0o700"}
    assert oct(rehearsal.run.kubeconfig.stat().st_mode & 0o777) == "0o600"


def another_user_gets_nothing(rehearsal: Rehearsal) -> None:
    parts = rehearsal.run.read_run_json()["parts"]
    azure = str(json.loads(rehearsal.run.ready_file("azure").read_text())["port"])
    ports = {
        str(connection.laddr.port)
        for part in parts.values()
        for connection in psutil.Process(part["pid"]).net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }
    command = [sys.executable, "-m", "tests.rehearsal.neighbour", *sorted(ports)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["owner"]["calls"][azure] == ["UNIMPLEMENTED", "UNKNOWN"], "its owner is answered"
    if os.geteuid() != 0:
        return  # only root can act as another user; a unit test shows whom Azure answers
    assert said["neighbour"]["calls"][azure] == ["UNAVAILABLE", "UNAVAILABLE"]
    assert said["neighbour"]["pages"], "the API server answers"
    # 501: Azure Resource Manager's address takes a POST and nothing else.
    assert set(said["neighbour"]["pages"].values()) <= {400, 401, 403, 404, 501}, said["neighbour"]["pages"]


def test_a_kept_data_centre_listens_on_loopback_alone_is_used_again_and_ends_when_its_command_is_interrupted(
    rehearsal: Rehearsal,
) -> None:
    with rehearsal.data_centre(keep=True):
        first = rehearsal.run.read_run_json()["supervisor"]
        no_process_listens_elsewhere_and_every_key_is_its_owners_alone(rehearsal)
        another_user_gets_nothing(rehearsal)
    with rehearsal.data_centre(keep=True) as check:
        check()
        assert rehearsal.run.read_run_json()["supervisor"] == first
    assert rehearsal.is_kept
    with pytest.raises(KeyboardInterrupt), rehearsal.data_centre(keep=True):
        raise KeyboardInterrupt
    assert processes_of_run(rehearsal.run.root) == []


def test_a_command_on_a_kept_data_centre_ends_if_its_supervisor_was_killed(rehearsal: Rehearsal) -> None:
    with rehearsal.data_centre(keep=True):
        supervisor = psutil.Process(rehearsal.run.read_run_json()["supervisor"])
    ends = pytest.raises(ControlPlaneError, match="the kept data centre has ended")
    with ends, rehearsal.data_centre(keep=True) as check:
        supervisor.kill()
        supervisor.wait()
        check()
    assert processes_of_run(rehearsal.run.root) == []


def test_a_part_of_a_kept_data_centre_that_has_died_is_named_with_its_log(rehearsal: Rehearsal) -> None:
    with rehearsal.data_centre(keep=True):
        etcd = psutil.Process(rehearsal.run.read_run_json()["parts"]["etcd"]["pid"])
    try:
        etcd.kill()
        # The controller manager dies with etcd, and may be collected before it.
        eventually(lambda: "etcd was ended by SIGKILL" in (rehearsal.how_the_kept_ended or ""))
        reason = rehearsal.how_the_kept_ended or ""
        assert not rehearsal.is_kept, "the next command starts anew"
        assert str(rehearsal.run.log("etcd")) in reason
    finally:
        down(rehearsal.run.root)
