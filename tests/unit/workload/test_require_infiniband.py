"""The check before a program: a real shell on a machine's files, and what it says."""

import os
import subprocess
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest

Check = Callable[..., tuple[int, str]]


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Two links that are ACTIVE, the Ethernet device, device nodes, and root with IPC_LOCK."""
    for name, layer, state in [
        ("mlx5_0", "InfiniBand", "4: ACTIVE"),
        ("mlx5_1", "InfiniBand", "4: ACTIVE"),
        ("mlx5_2", "Ethernet", "1: DOWN"),
    ]:
        port = tmp_path / "sys/infiniband" / name / "ports/1"
        port.mkdir(parents=True)
        (port / "link_layer").write_text(f"{layer}\n")
        (port / "state").write_text(f"{state}\n")
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/uverbs0").touch()
    (tmp_path / "limits").write_text("Max locked memory         65536                65536                bytes\n")
    (tmp_path / "status").write_text("CapEff:\t00000000a80465fb\n")
    (tmp_path / "sys/net/net1").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def check(machine: Path) -> Check:
    def run(script: str = "require_infiniband.sh", *arguments: str, **environment: str) -> tuple[int, str]:
        text = (resources.files("aks_infiniband.workload") / script).read_text()
        places = {
            "SYS_CLASS": machine / "sys",
            "DEVICES": machine / "dev",
            "LIMITS": machine / "limits",
            "STATUS": machine / "status",
            "CONFIG": machine / "nccl.conf",
            "TOLD": machine / "told",
        }
        done = subprocess.run(
            ["sh", "-c", text, "sh", *arguments],
            env={"PATH": os.environ["PATH"], **{name: str(path) for name, path in places.items()}, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
        if done.returncode:
            assert (machine / "told").read_text() == done.stderr, "kubectl describe shows it too"
        return done.returncode, done.stderr or done.stdout

    return run


def test_a_machine_whose_links_are_active_passes(check: Check) -> None:
    assert check(NCCL_NET="IB", NCCL_IB_DISABLE="0", UCX_TLS="rc,sm,self") == (
        0,
        "InfiniBand: 2 links are ACTIVE, and nothing makes NCCL or UCX use sockets.\n",
    )


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("NCCL_IB_DISABLE", "1", "remove it from env, the image"),
        ("NCCL_NET", "Socket", "set NCCL_NET=IB"),
        ("NCCL_NET", "socket", "set NCCL_NET=IB"),
        ("UCX_TLS", "tcp", "names no transport of InfiniBand"),
        ("UCX_TLS", "tcp,sm,self", "names no transport of InfiniBand"),
        ("UCX_TLS", "^ib", "or excludes it"),
    ],
)
def test_a_variable_that_means_sockets_fails_with_what_to_do(check: Check, name: str, value: str, words: str) -> None:
    code, said = check(**{name: value})
    assert code == 1
    assert f"{name}={value}" in said
    assert words in said


@pytest.mark.parametrize("value", ["all", "rc", "rc_x,self", "sm,self,ib", "dc,cuda", "ud", "^tcp", "^sm,tcp"])
def test_a_choice_of_transports_with_infiniband_passes(check: Check, value: str) -> None:
    assert check(UCX_TLS=value)[0] == 0


def test_nccls_own_file_counts_where_the_environment_is_silent(check: Check, machine: Path) -> None:
    (machine / "nccl.conf").write_text("NCCL_IB_DISABLE=1\n")
    assert check()[0] == 1
    assert check(NCCL_IB_DISABLE="0")[0] == 0


def test_a_pod_without_the_plugins_devices_fails(check: Check, machine: Path) -> None:
    (machine / "dev/uverbs0").unlink()
    assert "Ask for the pool's RDMA resource in resources.limits" in check()[1]


def test_a_link_that_is_down_fails_and_is_named(check: Check, machine: Path) -> None:
    (machine / "sys/infiniband/mlx5_1/ports/1/state").write_text("1: DOWN\n")
    code, said = check()
    assert code == 1
    assert (
        said
        == "The InfiniBand link of mlx5_1 is 1: DOWN, not ACTIVE. Cordon this node, and ask aks-infiniband doctor.\n"
    )


def test_a_machine_without_infiniband_fails(check: Check, machine: Path) -> None:
    for port in (machine / "sys/infiniband").glob("*/ports/1/link_layer"):
        port.write_text("Ethernet\n")
    assert "No InfiniBand link of this node is ACTIVE" in check()[1]


def test_memory_that_may_not_be_locked_fails_unless_the_limit_is_lifted(check: Check, machine: Path) -> None:
    (machine / "status").write_text("CapEff:\t0000000000000000\n")
    assert "may lock only 65536 bytes" in check()[1]
    (machine / "limits").write_text("Max locked memory         unlimited            unlimited            bytes\n")
    assert check()[0] == 0


def test_a_pod_without_its_ipoib_interface_fails(check: Check) -> None:
    assert check("require_ipoib.sh", "net1") == (0, "IPoIB: the pod has net1.\n")
    assert "no interface net2" in check("require_ipoib.sh", "net1", "net2")[1]


def test_an_ipoib_interface_that_is_down_fails(check: Check, machine: Path) -> None:
    (machine / "sys/net/net1/operstate").write_text("down\n")
    assert "net1 is down" in check("require_ipoib.sh", "net1")[1]


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
