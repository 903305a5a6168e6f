"""The rights of a Job's command on this computer: it is a person's own process, confined to the run folder."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rehearsal.faults import machine_faults
from rehearsal.machines.kubelet import landlock
from rehearsal.machines.kubelet.containers import Confinement
from rehearsal.tools.paths import PROJECT

SHIM = PROJECT / "rehearsal/machines/kubelet/shim.py"


class Place:
    """A run folder with a pod's, and files of the person next to it."""

    def __init__(self, folder: Path) -> None:
        self.run, self.own, self.log = folder / "run", folder / "home", folder / "run/log"
        self.pod = self.run / "pod"
        for made in (self.pod, self.own):
            made.mkdir(parents=True)
        (self.own / "id_ed25519").write_text("key")
        machine_faults.write(self.run, [])
        (self.run / "kubeconfig").write_text("token")
        self.log.touch()

    def run_confined(self, script: str, *, port: int = 1) -> str:
        """The output of a shell script as a container; its standard error is left out."""
        limits = Confinement(reads=(self.run / "faults",), writes=(self.pod,), port=port).limits(self.log)
        shim = [sys.executable, "-I", "-S", str(SHIM), str(os.getpid()), "-1"]
        command = [*shim, *limits, "--", "sh", "-c", script]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.pod).stdout


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_this_kernel_confines_or_the_person_is_told() -> None:
    """The tests below prove nothing if a kernel lacks Landlock: then the warning is all that holds."""
    assert (landlock.version() == 0) == (landlock.warning() is not None)


needs_landlock = pytest.mark.skipif(landlock.version() == 0, reason="this kernel has no Landlock")


@needs_landlock
@pytest.mark.parametrize(
    ("script", "done"),
    [
        ("echo a > own && cat own", True),
        ("mkdir -p d/e && touch d/e/f && mv d/e/f d/g && rm -r d && echo done", True),
        ("echo a >> {run}/log && echo done", True),
        ("cat {run}/faults/faults.json", True),
        ("cat {run}/kubeconfig", False),
        ("ls {run}", False),
        ("echo a > /dev/null && cat /etc/passwd /proc/meminfo > /dev/null && echo done", True),
        ("read name < /proc/self/comm && echo $name", True),
        ("echo a > {run}/faults/faults.json && echo done", False),
        ("cat {own}/id_ed25519", False),
        ("ls {own}", False),
        ("ln -s {own}/id_ed25519 link; cat link", False),
        ("echo a > {own}/made && echo done", False),
        ("rm {own}/id_ed25519 && echo done", False),
        ("mv {own}/id_ed25519 . && echo done", False),
        ("cat /proc/{pid}/environ", False),
    ],
)
def test_a_container_writes_in_its_pod_and_reads_nothing_of_the_persons(place: Place, script: str, done: bool) -> None:
    said = place.run_confined(script.format(run=place.run, own=place.own, pid=os.getpid()))
    assert bool(said) == done, said
    assert [path.name for path in place.own.iterdir()] == ["id_ed25519"]
    assert machine_faults.read(place.run) == []


@needs_landlock
@pytest.mark.parametrize("module", ["rehearsal.machines.rdma_tools.perftest", "rehearsal.machines.gpu_libraries.nccl"])
def test_the_programs_of_a_machine_run_confined(place: Place, module: str) -> None:
    paths = [str(PROJECT), str(PROJECT / "rehearsal/machines/lib")]
    program = f"import sys; sys.path[:0] = {paths}; import {module}; print(1)".replace('"', "'")
    assert place.run_confined(f'{sys.executable} -I -S -c "{program}"; cat {PROJECT}/Pulumi.yaml') == "1\n"


@pytest.mark.skipif(landlock.version() < 4, reason="this kernel's Landlock knows nothing of TCP")
def test_a_container_reaches_the_api_server_and_no_other_port(place: Place) -> None:
    program = 'import socket; socket.create_connection((\\"127.0.0.1\\", int(\\"%d\\"))); print(\\"reached\\")'
    with socket.create_server(("127.0.0.1", 0)) as api, socket.create_server(("127.0.0.1", 0)) as other:
        port, neighbour = (server.getsockname()[1] for server in (api, other))
        for asked, reached in ((port, "reached\n"), (neighbour, "")):
            assert place.run_confined(f'{sys.executable} -I -S -c "{program % asked}"', port=port) == reached


@pytest.mark.skipif(landlock.version() < 6, reason="this kernel's Landlock knows nothing of signals")
def test_a_container_signals_no_process_outside(place: Place) -> None:
    bystander = subprocess.Popen(["sleep", "600"])
    try:
        assert (
            place.run_confined(f"kill -KILL {bystander.pid} && echo done; sleep 600 & kill $! && echo own") == "own\n"
        )
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_simulated_tool_runs_confined(place: Place) -> None:
    tool = SHIM.parents[1] / "bin/ib_write_bw"
    assert place.run_confined(f"{sys.executable} -I -S {tool} --version") == "Version: 6.06\n"


def test_a_program_is_not_run_unconfined_where_confining_fails(place: Place) -> None:
    limits = ["reads=/", "writes=/", f"ports={1 << 20}"]
    command = [sys.executable, "-I", "-S", str(SHIM), str(os.getpid()), "-1", *limits, "--", "echo", "ran"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if landlock.version() >= 4:
        assert (done.stdout, done.returncode) == ("", 126)
        assert "Landlock" in done.stderr
