"""The machines process under adversity: an API server that goes away, and its own death."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from lightkube import ApiError, Client, KubeConfig, codecs
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Pod
from lightkube.types import CascadeType

from rehearsal.control_plane import WITH_KWOK, ControlPlane, RunFolder
from rehearsal.tools.paths import PROJECT
from tests.rehearsal.simulated_nodes import gpu_and_system_nodes
from tests.rehearsal.waiting import eventually


class Relay:
    """A TCP relay to the API server that can be cut."""

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._connections: list[socket.socket] = []
        self._cut = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self) -> None:
        """Break every connection, and refuse new ones."""
        self._cut.set()
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._connections.clear()

    def mend(self) -> None:
        """Accept connections again."""
        self._cut.clear()

    def _serve(self) -> None:
        while True:
            client, _ = self._listener.accept()
            if self._cut.is_set():
                client.close()
                continue
            server = socket.create_connection(self._target)
            self._connections += [client, server]
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    @staticmethod
    def _pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with ControlPlane.start(tmp_path_factory.mktemp("server") / "run", parts=WITH_KWOK) as running:
        client_of(running).create(codecs.from_dict(gpu_and_system_nodes()[0]))
        yield running


@pytest.fixture
def relay(server: ControlPlane) -> Relay:
    address = yaml.safe_load(server.kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
    return Relay(int(address.rsplit(":", 1)[1]))


@pytest.fixture
def machines(server: ControlPlane, relay: Relay, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A separate machines process for the test, which speaks to the API server through the relay."""
    run = RunFolder.at(tmp_path)
    for folder in (run.logs, run.machines, run.ready):
        folder.mkdir()
    run.ready_file("kube-apiserver").touch()
    shutil.copytree(server.run.pki, run.pki)
    config = yaml.safe_load(run.part_kubeconfig("machines").read_text())
    config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{relay.port}"
    run.part_kubeconfig("machines").write_text(yaml.safe_dump(config))
    command = [sys.executable, "-m", "rehearsal.machines", "--run", str(run.root), "--speed", "60"]
    process = subprocess.Popen(command, cwd=PROJECT)
    eventually(run.ready_file("machines").exists)
    yield process
    process.kill()
    process.wait()
    client = client_of(server)
    client.deletecollection(Job, namespace="default", cascade=CascadeType.BACKGROUND)
    for pod in client.list(Pod, namespace="default"):
        with suppress(ApiError):  # the garbage collector was quicker
            client.delete(Pod, pod.to_dict()["metadata"]["name"], namespace="default", grace_period=0)


def client_of(server: ControlPlane) -> Client:
    return Client(config=KubeConfig.from_file(server.kubeconfig), trust_env=False)


def job(server: ControlPlane, name: str, program: str) -> Callable[[], Any]:
    """Create a Job; the returned function reads its pod."""
    container = {"name": "main", "image": "x", "command": ["python3", "-c", program]}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    document = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"backoffLimit": 0, "template": template},
    }
    client = client_of(server)
    client.create(codecs.from_dict(document))
    return lambda: next(iter(client.list(Pod, namespace="default", labels={"job-name": name})), None)


def phase_is(pod: Callable[[], Any], phase: str) -> Callable[[], bool]:
    return lambda: (found := pod()) is not None and found.status.phase == phase


UNTIL_TOLD = """
import os, time
while not os.path.exists(os.environ["AKS_INFINIBAND_REHEARSAL"] + "/logs/ends"):
    time.sleep(0.1)
"""


@pytest.mark.usefixtures("machines")
def test_what_happens_while_the_api_server_is_away_is_caught_up_with(
    server: ControlPlane, relay: Relay, tmp_path: Path
) -> None:
    running = job(server, "running", UNTIL_TOLD)
    eventually(phase_is(running, "Running"))
    eventually(lambda: sleepers(tmp_path))
    relay.cut()
    (tmp_path / "logs" / "ends").touch()
    eventually(lambda: not sleepers(tmp_path))
    later = job(server, "later", "print('made while nobody was watching')")
    assert running().status.phase == "Running", "its end cannot be told yet"
    relay.mend()
    eventually(phase_is(running, "Succeeded"))
    eventually(phase_is(later, "Succeeded"))


SLEEPERS = (
    "import os, subprocess, sys, time;"
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True);"
    "time.sleep(600)"
)


def sleepers(run: Path) -> list[psutil.Process]:
    """Processes of pods of a run: those that carry its folder in their environment."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("AKS_INFINIBAND_REHEARSAL") == str(run):
                found.append(process)
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_process_of_a_pod_survives_the_machines(
    server: ControlPlane, machines: subprocess.Popen[bytes], tmp_path: Path, number: signal.Signals
) -> None:
    pod = job(server, "long", SLEEPERS)
    eventually(phase_is(pod, "Running"))
    eventually(lambda: len(sleepers(tmp_path)) >= 3)  # the shim, the program, what the program started
    os.kill(machines.pid, number)
    code = machines.wait(timeout=60)
    assert code == (0 if number == signal.SIGTERM else -signal.SIGKILL)
    eventually(lambda: not sleepers(tmp_path))


def test_a_pod_whose_processes_are_gone_is_failed_by_the_next_machines(
    server: ControlPlane, machines: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    pod = job(server, "lost", SLEEPERS)
    eventually(phase_is(pod, "Running"))
    machines.kill()
    machines.wait()
    command = [sys.executable, "-m", "rehearsal.machines", "--run", str(tmp_path), "--speed", "60"]
    successor = subprocess.Popen(command, cwd=PROJECT)
    try:
        eventually(phase_is(pod, "Failed"))
        assert pod().status.containerStatuses[0].state.terminated.reason == "ContainerStatusUnknown"
    finally:
        successor.terminate()
        successor.wait()
