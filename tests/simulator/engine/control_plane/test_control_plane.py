"""The processes of a rehearsal: they start in time, are reached with credentials only, and leave nothing behind."""

import json
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import trustme
from lightkube import ApiError, Client, KubeConfig
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace, ServiceAccount

from rehearsal.control_plane import (
    CONTROL_PLANE_ONLY,
    ENVIRONMENT_VARIABLE,
    WITH_KWOK,
    ControlPlane,
    ControlPlaneError,
    RunFolder,
    down,
)
from rehearsal.control_plane.credentials import ADMINISTRATORS, issue
from rehearsal.control_plane.processes import processes_of_run
from rehearsal.tools.paths import PROJECT
from tests.simulator.engine.control_plane.asking import LIMIT_S, ask, client_of, eventually, failure_of, gone

PROCESSOR_SECONDS = 8.0
"""Three times what a start takes of the processors (2.7 s, 2026-11-22); how long it lasts depends on who else works."""
CHILD = """
import sys, time
from rehearsal.control_plane import CONTROL_PLANE_ONLY, ControlPlane
with ControlPlane.start(sys.argv[1], parts=CONTROL_PLANE_ONLY):
    print("ready", flush=True)
    time.sleep(600)
"""


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "run"
    yield folder
    down(folder)


@pytest.fixture(name="shared", scope="module")
def _shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with ControlPlane.start(tmp_path_factory.mktemp("shared") / "run", parts=WITH_KWOK) as control_plane:
        yield control_plane


def _child(folder: Path) -> subprocess.Popen[str]:
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(folder)], cwd=PROJECT, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    with child.stdout as said:
        assert said.readline() == "ready\n"
    assert len(processes_of_run(folder.resolve())) >= 1 + len(CONTROL_PLANE_ONLY)
    return child


def test_it_starts_with_little_work_and_its_controllers_work(folder: Path) -> None:
    seen: dict[str, float] = {}
    with ControlPlane.start(folder, parts=WITH_KWOK, on_part_ready=seen.__setitem__) as control_plane:
        took = {process.name(): sum(process.cpu_times()[:2]) for process in processes_of_run(control_plane.run.root)}
        assert sum(took.values()) < PROCESSOR_SECONDS, took
        assert set(seen) == set(WITH_KWOK)
        client = client_of(control_plane)
        client.create(Namespace(metadata=ObjectMeta(name="made-by-a-test")))
        account = eventually(lambda: client.get(ServiceAccount, "default", namespace="made-by-a-test"))
        assert account.metadata is not None
        control_plane.check()
    assert gone(folder)


def test_run_json_says_what_runs_and_where_its_logs_are(shared: ControlPlane) -> None:
    content = json.loads(shared.run.run_json.read_text())
    assert content["state"] == "ready"
    assert set(content["parts"]) == set(WITH_KWOK)
    for part in content["parts"].values():
        assert psutil.Process(part["pid"]).environ()[ENVIRONMENT_VARIABLE] == str(shared.run.root)
        assert Path(part["log"]).exists()


def test_every_port_is_a_loopback_port(shared: ControlPlane) -> None:
    pids = {process.pid for process in processes_of_run(shared.run.root)}
    listening = [
        connection
        for pid in pids
        for connection in psutil.Process(pid).net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert len(listening) >= 5
    assert {connection.laddr.ip for connection in listening} == {"127.0.0.1"}


def test_the_api_server_answers_nobody_without_a_certificate(shared: ControlPlane) -> None:
    context = ssl.create_default_context(cafile=shared.run.pki / "ca.crt")
    assert ask(shared, "kube-apiserver", context).split()[1] == b"401"


def test_the_api_server_does_not_take_another_authoritys_certificate(shared: ControlPlane, tmp_path: Path) -> None:
    context = ssl.create_default_context(cafile=shared.run.pki / "ca.crt")
    stranger = issue(trustme.CA(), "rehearsal:admin", group=ADMINISTRATORS)
    stranger.private_key_and_cert_chain_pem.write_to_path(tmp_path / "stranger.pem")
    context.load_cert_chain(tmp_path / "stranger.pem")
    assert ask(shared, "kube-apiserver", context).split()[1] == b"401"


def test_etcd_does_not_even_talk_to_a_client_of_the_cluster(shared: ControlPlane) -> None:
    context = ssl.create_default_context(cafile=shared.run.pki / "etcd-ca.crt")
    context.load_cert_chain(shared.run.pki / "admin.crt", shared.run.pki / "admin.key")
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        ask(shared, "etcd", context)


def test_a_client_with_another_authority_does_not_trust_the_server(shared: ControlPlane, tmp_path: Path) -> None:
    trustme.CA().cert_pem.write_to_path(tmp_path / "other.crt")
    context = ssl.create_default_context(cafile=tmp_path / "other.crt")
    with pytest.raises(ssl.SSLCertVerificationError):
        ask(shared, "kube-apiserver", context)


def test_the_scheduler_may_not_do_what_an_administrator_may(shared: ControlPlane) -> None:
    client = Client(KubeConfig.from_file(str(shared.run.part_kubeconfig("kube-scheduler"))))
    with pytest.raises(ApiError) as refusal:
        client.delete(Namespace, "default")
    assert refusal.value.status.code == 403


def test_two_control_planes_run_side_by_side_and_know_nothing_of_each_other(shared: ControlPlane, folder: Path) -> None:
    with ControlPlane.start(folder, parts=CONTROL_PLANE_ONLY) as other:
        client_of(other).create(Namespace(metadata=ObjectMeta(name="only-here")))
        with pytest.raises(ApiError):
            client_of(shared).get(Namespace, "only-here")
        assert not {process.pid for process in processes_of_run(other.run.root)} & {
            process.pid for process in processes_of_run(shared.run.root)
        }
    client_of(shared).get(Namespace, "default")


def test_a_second_start_on_the_same_folder_is_refused_and_harms_nothing(shared: ControlPlane) -> None:
    supervisor = json.loads(shared.run.run_json.read_text())["supervisor"]
    with pytest.raises(ControlPlaneError, match=rf"in use by process {supervisor}:.*control_plane down --run"):
        ControlPlane.start(shared.run.root, parts=CONTROL_PLANE_ONLY)
    shared.check()
    client_of(shared).get(Namespace, "default")


def test_a_folder_with_somebodys_files_is_refused(folder: Path) -> None:
    folder.mkdir()
    (folder / "thesis.txt").write_text("precious")
    with pytest.raises(ControlPlaneError, match="holds files that no rehearsal put there"):
        ControlPlane.start(folder, parts=CONTROL_PLANE_ONLY)
    assert (folder / "thesis.txt").read_text() == "precious"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda number: number.name)
def test_a_command_that_is_ended_leaves_no_process(folder: Path, number: signal.Signals) -> None:
    child = _child(folder)
    child.send_signal(number)
    child.wait(timeout=LIMIT_S)
    assert gone(folder)


def test_a_supervisor_that_is_killed_takes_its_parts_with_it(folder: Path) -> None:
    child = _child(folder)
    psutil.Process(json.loads((folder / "run.json").read_text())["supervisor"]).kill()
    assert gone(folder)
    child.kill()
    child.wait()


def test_other_processes_of_the_run_end_with_it(folder: Path) -> None:
    control_plane = ControlPlane.start(folder, parts=CONTROL_PLANE_ONLY)
    environment = os.environ | dict(control_plane.environment)
    engine = subprocess.Popen(["sleep", "600"], env=environment, start_new_session=True)
    control_plane.stop()
    assert engine.wait(timeout=LIMIT_S) == -signal.SIGTERM


def test_a_kept_control_plane_holds_nothing_of_its_command_open(folder: Path) -> None:
    command = [sys.executable, "-m", "rehearsal.control_plane", "up", "--run", str(folder), "--keep"]
    options = ["--parts", ",".join(CONTROL_PLANE_ONLY)]
    result = subprocess.run(  # returns when all holders have closed the two pipes
        [*command, *options], cwd=PROJECT, capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    assert f"export KUBECONFIG={RunFolder.at(folder).kubeconfig}" in result.stdout
    assert processes_of_run(folder.resolve())


def test_a_kept_control_plane_outlives_its_command_until_down(folder: Path) -> None:
    with ControlPlane.start(folder, parts=CONTROL_PLANE_ONLY) as control_plane:
        control_plane.keep()
    client_of(control_plane).get(Namespace, "default")
    assert json.loads((folder / "run.json").read_text())["kept"] is True
    ended = down(folder)
    assert "etcd" in ended
    assert gone(folder)
    assert down(folder) == []


def test_a_part_that_ends_is_reported_with_its_log(folder: Path) -> None:
    with ControlPlane.start(folder, parts=CONTROL_PLANE_ONLY) as control_plane:
        parts = json.loads(control_plane.run.run_json.read_text())["parts"]
        psutil.Process(parts["kube-scheduler"]["pid"]).kill()
        failure = failure_of(control_plane)
    assert "kube-scheduler was ended by SIGKILL while the rehearsal ran" in failure
    assert str(RunFolder.at(folder).log("kube-scheduler")) in failure


def test_a_part_that_fails_at_start_is_reported_with_its_last_lines_and_leaves_no_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GODEBUG", "")
    monkeypatch.setenv("ETCD_NAME", "not-in-the-cluster")  # etcd takes settings from its environment as well
    with pytest.raises(ControlPlaneError) as failure:
        ControlPlane.start(folder, parts=CONTROL_PLANE_ONLY)
    assert "etcd ended with exit status 1 before it was ready" in str(failure.value)
    assert f"The last lines of {RunFolder.at(folder).log('etcd')}" in str(failure.value)
    assert gone(folder)
