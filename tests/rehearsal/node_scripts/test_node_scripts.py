"""The scripts of node preparation, peermem and toolkit hardening in a real shell, with stand-ins for its programs.

A folder takes the place of the machine's root, so its paths are other ones. All else is as on a machine.
"""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.hosts import peermem as hosts_peermem
from aks_infiniband.hosts.node_preparation import host_script, node_preparation
from aks_infiniband.hosts.toolkit_hardening import toolkit_hardening

from tests.some_pools import pool

LIMITED = "Max locked memory         8388608              8388608              bytes\n"
UNLIMITED = "Max locked memory         unlimited            unlimited            bytes\n"

MACHINE = ("/proc/", "/etc/systemd/", "/run/mellanox/")

SYSTEMCTL = """#!/bin/sh
echo "systemctl $*" >>$ROOT/log
unit=$(for last; do :; done; echo $last)
case "$*" in
  *MainPID*) echo $unit ;;
  *LimitMEMLOCK*) cat $ROOT/effective ;;
  restart*) printf '%s' "$UNLIMITED" >$ROOT/proc/$unit/limits ;;
esac
"""
MODPROBE = """#!/bin/sh
echo "modprobe $*" >>$ROOT/log
case " $MISSING " in *" $1 "*) echo "modprobe: FATAL: Module $1 not found" >&2; exit 1 ;; esac
"""


class Machine:
    """A folder that is a machine's root, and the programs of that machine."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for unit in ("containerd", "kubelet"):
            (root / "proc" / unit).mkdir(parents=True)
            (root / "proc" / unit / "limits").write_text(LIMITED)
        (root / "effective").write_text("infinity\n")
        (root / "bin").mkdir()
        for name, text in {"systemctl": SYSTEMCTL, "modprobe": MODPROBE, "sleep": "#!/bin/sh\nkill $PPID\n"}.items():
            self.program(name, text)

    def program(self, name: str, text: str) -> None:
        (self.root / "bin" / name).write_text(text)
        (self.root / "bin" / name).chmod(0o755)

    def run(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run what would run on the machine, and forget what was logged before."""
        (self.root / "log").write_text("")
        for path in MACHINE:
            script = script.replace(path, f"{self.root}{path}")
            environment = {key: value.replace(path, f"{self.root}{path}") for key, value in environment.items()}
        own: Mapping[str, str] = {
            "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}",
            "ROOT": str(self.root),
            "UNLIMITED": UNLIMITED,
        }
        return subprocess.run(
            ["sh", "-c", script], env={**own, **environment}, capture_output=True, text=True, timeout=120, check=False
        )

    def did(self, what: str) -> list[str]:
        return [line for line in (self.root / "log").read_text().splitlines() if line.startswith(what)]

    def drop_in(self, unit: str) -> Path:
        return self.root / f"etc/systemd/system/{unit}.service.d/90-aks-infiniband.conf"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.field_report("B13")
def test_the_modules_are_loaded_one_after_another(machine: Machine) -> None:
    assert machine.run(host_script(("ib_umad", "rdma_ucm"), memlock=False)).returncode == 0
    assert machine.did("") == ["modprobe ib_umad", "modprobe rdma_ucm"]


def test_a_module_that_does_not_load_fails_the_preparation_and_says_which(machine: Machine) -> None:
    ended = machine.run(host_script(("ib_umad", "rdma_ucm"), memlock=True), MISSING="ib_umad")
    assert ended.returncode != 0
    assert "Module ib_umad not found" in ended.stderr
    assert machine.did("systemctl") == [], "nothing restarts on a machine that cannot be prepared anyway"


@pytest.mark.field_report("C2")
def test_containerd_and_kubelet_are_restarted_once_with_an_unlimited_limit(machine: Machine) -> None:
    script = host_script(("ib_umad",), memlock=True)
    assert machine.run(script).returncode == 0
    assert machine.did("systemctl restart") == ["systemctl restart containerd", "systemctl restart kubelet"]
    for unit in ("containerd", "kubelet"):
        assert machine.drop_in(unit).read_text() == "[Service]\nLimitMEMLOCK=infinity\n"


@pytest.mark.field_report("B15")
def test_a_machine_that_is_prepared_is_left_alone(machine: Machine) -> None:
    script = host_script(("ib_umad",), memlock=True)
    machine.run(script)
    written = machine.drop_in("kubelet").stat().st_mtime_ns
    assert machine.run(script).returncode == 0
    assert machine.did("systemctl restart") == machine.did("systemctl daemon-reload") == []
    assert machine.drop_in("kubelet").stat().st_mtime_ns == written


@pytest.mark.field_report("B15")
def test_preparation_that_was_cut_off_before_the_restart_restarts_after_all(machine: Machine) -> None:
    for unit in ("containerd", "kubelet"):
        machine.drop_in(unit).parent.mkdir(parents=True)
        machine.drop_in(unit).write_text("[Service]\nLimitMEMLOCK=infinity\n")
    machine.run(host_script(("ib_umad",), memlock=True))
    assert len(machine.did("systemctl restart")) == 2


@pytest.mark.field_report("B15")
def test_where_another_drop_in_wins_nothing_is_restarted_again_and_again(machine: Machine) -> None:
    (machine.root / "effective").write_text("8388608\n")
    ended = machine.run(host_script(("ib_umad",), memlock=True))
    assert ended.returncode != 0
    assert "containerd: another drop-in sets its memlock limit" in ended.stderr
    assert machine.did("systemctl restart") == []


def run_container(machine: Machine, spec: Any, **environment: str) -> subprocess.CompletedProcess[str]:
    """The work of the container on the machine until it ends or sleeps: the machine's sleep ends it."""
    machine.program("nsenter", '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    pod = spec["template"]["spec"]
    (container,) = pod.get("initContainers") or pod["containers"]
    (on_the_host,) = container["args"]
    return machine.run(f'set -- "$ON_THE_HOST"\n{container["command"][2]}', ON_THE_HOST=on_the_host, **environment)


def peermem(machine: Machine, *, ofed: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
    ready = machine.root / "run/mellanox/drivers/.driver-ready"
    ready.parent.mkdir(parents=True)
    if ofed:
        ready.touch()
    return run_container(machine, hosts_peermem.peermem([pool(gpu_driver="aks")]).spec(), **environment)


@pytest.mark.field_report("B3")
def test_peermem_is_loaded_and_said_to_be(machine: Machine) -> None:
    assert peermem(machine).stdout == "nvidia-peermem is loaded\n"
    assert machine.did("modprobe") == ["modprobe nvidia-peermem"]


@pytest.mark.field_report("B1c")
def test_peermem_is_never_loaded_while_ofed_reloads(machine: Machine) -> None:
    assert "OFED is not ready" in peermem(machine, ofed=False).stdout
    assert machine.did("modprobe") == []


@pytest.mark.field_report("B3b")
def test_a_peermem_that_refuses_is_told_with_its_reason_and_tried_again(machine: Machine) -> None:
    ended = peermem(machine, MISSING="nvidia-peermem")
    assert ended.stdout.startswith("nvidia-peermem is not loaded, GPUDirect RDMA needs DMA-BUF: modprobe: FATAL")
    assert ended.returncode < 0, "it was sleeping before the next try"


@pytest.mark.parametrize("missing", ["", "rdma_ucm"])
def test_a_node_is_prepared_only_when_its_script_has_gone_well(machine: Machine, missing: str) -> None:
    ended = run_container(machine, node_preparation([pool()], memlock=True).spec(), MISSING=missing)
    assert (ended.returncode == 0) == (not missing)


@pytest.mark.field_report("A11")
def test_the_container_toolkits_file_is_changed_by_its_own_program(machine: Machine) -> None:
    machine.program("nvidia-ctk", '#!/bin/sh\necho "nvidia-ctk $*" >>$ROOT/log\n')
    assert run_container(machine, toolkit_hardening([pool(gpu_driver="aks")]).spec()).returncode == 0
    wanted = "accept-nvidia-visible-devices-envvar-when-unprivileged=false"
    assert machine.did("") == [f"nvidia-ctk config --in-place --set {wanted}"]


def test_a_machine_without_that_program_is_tried_again_and_never_taken_for_hardened(machine: Machine) -> None:
    machine.program("nvidia-ctk", "#!/bin/sh\necho 'nvidia-ctk: not found' >&2\nexit 127\n")
    ended = run_container(machine, toolkit_hardening([pool(gpu_driver="aks")]).spec())
    assert "trying again in 30 s" in ended.stderr
    assert ended.returncode != 0
