"""The content of an image: a container of NVIDIA's CUDA runtime image starts without Python, and gets it from
packages.
"""

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from aks_infiniband.facts.versions import NCCL_IMAGE
from aks_infiniband.validation.payload.programs.install import PACKAGES, ensure
from aks_infiniband.validation.payload.programs.process import Ended

from rehearsal.machines.kubelet.programs import Programs
from rehearsal.run.images import packages
from rehearsal.tools.paths import PROJECT

SCRIPT = PROJECT / "components/aks_infiniband/validation/payload/with_python.sh"


@dataclass
class Container:
    """A container of an image, before its program is started."""

    folder: Path
    programs: Programs

    def start(self) -> subprocess.CompletedProcess[str]:
        """Start a program in Python as the validation's container starts its own; it says whether it finds a tool."""
        (self.folder / "asks.py").write_text("import shutil, sys; print(sys.argv[1:], shutil.which('ib_write_bw'))")
        command = ["/bin/sh", str(SCRIPT), NCCL_IMAGE, str(self.folder / "log"), "asks", "--namespace", "a b"]
        environment = {
            "PATH": self.programs.search_path(None),
            "PYTHONPATH": str(self.folder),
            "REHEARSAL_CONTAINER": str(self.folder),
        }
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def apt_get(self, script: str) -> None:
        """Put another apt-get in its place, which notes its arguments."""
        program = self.folder / "bin/apt-get"
        program.unlink()
        program.write_text(f'#!/bin/sh\necho "$@" >> {self.folder}/asked\n{script}\n')
        program.chmod(0o755)

    @property
    def words(self) -> str:
        """The kubelet's view of its end."""
        return (self.folder / "log").read_text()


def container(folder: Path, *, reachable: bool = True, image: str = NCCL_IMAGE) -> Container:
    everywhere = Programs.prepared(folder / "machine")
    return Container(folder, everywhere.of(image, folder, reachable=reachable))


def test_the_cuda_image_has_a_shell_and_no_python_whatever_this_computer_has(tmp_path: Path) -> None:
    programs = container(tmp_path).programs
    assert programs.resolve("sh")
    assert [programs.resolve(name) for name in ("python3", "ib_write_bw", "ibv_devinfo")] == [None, None, None]
    assert programs.search_path(None) == str(tmp_path / "bin")
    mirrored = container(tmp_path / "other", image="acr.example:5000/mirror/nvidia/cuda:12").programs
    assert mirrored.resolve("python3") is None


def test_an_image_of_which_nothing_is_said_has_python_and_all_tools(tmp_path: Path) -> None:
    programs = container(tmp_path, image="registry.invalid/main").programs
    assert all(programs.resolve(name) for name in ("python3", "ib_write_bw"))


def test_python_has_no_packages_of_this_computer_in_any_image(tmp_path: Path) -> None:
    bare, whole = container(tmp_path), container(tmp_path / "other", image="registry.invalid/main")
    assert bare.start().returncode == 0
    for programs in (bare.programs, whole.programs):
        asks = [str(programs.resolve("python3")), "-c", "import sys; print(*sys.path, sep='\\n')"]
        known = subprocess.run(asks, capture_output=True, text=True, check=True).stdout
        assert "lib/python3" in known
        assert "-packages" not in known


def test_simulated_libraries_are_compiled_before_a_process_needs_them(tmp_path: Path) -> None:
    container(tmp_path)
    for library in (PROJECT / "rehearsal/machines/gpu_libraries").glob("*.py"):
        assert Path(cache_from_source(str(library))).exists()


def test_python_is_installed_with_libibverbs_and_runs_the_module_with_its_arguments(tmp_path: Path) -> None:
    found = container(tmp_path)
    ended = found.start()
    assert ended.stdout.splitlines()[-1] == "['--namespace', 'a b'] None", ended
    assert os.path.lexists(tmp_path / "lib/libmlx5.so.1"), "or NCCL would use sockets"


def test_the_payload_then_installs_the_tools_that_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = container(tmp_path)
    found.start()
    monkeypatch.setenv("PATH", found.programs.search_path(None))
    monkeypatch.setenv("REHEARSAL_CONTAINER", str(tmp_path))
    tools = ensure(["ib_write_bw", "ibv_devinfo"], 60)
    assert (tools.missing, tools.error) == ((), None)
    said = subprocess.run(["ib_write_bw", "--version"], capture_output=True, check=False)
    assert (said.stdout, said.returncode) == (b"Version: 6.06\n", 1), "perftest ends with code 1 then"


def test_every_package_that_is_asked_for_is_in_the_table() -> None:
    asked = {package for packages_of in PACKAGES["apt-get"].values() for package in packages_of.split()}
    of_script = re.search(r"^packages='(.*)'$", SCRIPT.read_text(), re.MULTILINE)
    assert of_script
    assert asked | set(of_script[1].split()) == set(packages())


def test_without_packages_the_container_ends_with_one_sentence_that_says_what_to_do(tmp_path: Path) -> None:
    found = container(tmp_path, reachable=False)
    ended = found.start()
    assert ended.returncode == 1
    assert found.words == (
        f"image {NCCL_IMAGE} has no Python, and packages python3 ibverbs-providers could not be installed (Failed to "
        "fetch http://archive.ubuntu.com/ubuntu/dists/noble/InRelease  Temporary failure resolving "
        "'archive.ubuntu.com'): let the nodes reach the packages of the image's distribution, or name an image with "
        "Python in validation.image\n"
    )
    assert ended.stdout.count("apt-get") == 0
    assert ended.stdout.count("Unable to locate package python3") == 3, "three tries"


def test_an_image_without_a_package_manager_says_so(tmp_path: Path) -> None:
    found = container(tmp_path)
    (tmp_path / "bin/apt-get").unlink()
    assert found.start().returncode == 1
    assert "could not be installed (the image has no apt-get)" in found.words


@pytest.mark.field_report("R10")
@pytest.mark.parametrize("line", ["Inst libc6 [2.39-0ubuntu8] (2.39-0ubuntu8.5 Ubuntu:24.04)", "Remv libc6 [2.39]"])
def test_nothing_that_the_image_has_is_changed_for_python(tmp_path: Path, line: str) -> None:
    found = container(tmp_path)
    found.apt_get(f'case "$*" in *--simulate*) echo "{line}" ;; esac')
    assert found.start().returncode == 1
    assert "that needs libc6 in another version than the image has or holds, and that stays as it is" in found.words
    assert not [asked for asked in (tmp_path / "asked").read_text().splitlines() if "--quiet python3" in asked]


def test_packages_are_installed_by_the_rules_of_the_tools(tmp_path: Path) -> None:
    found, by_tools = container(tmp_path), []

    def execute(command: Sequence[str], _: float) -> Ended:
        by_tools.append(" ".join(command[1:]).removesuffix(" perftest"))
        return Ended("apt-get", 0, "", None)

    found.apt_get("")
    found.start()
    ensure(["ib_write_bw"], 1, which=lambda name: name if name == "apt-get" else None, execute=execute)
    by_script = (tmp_path / "asked").read_text().splitlines()
    assert [asked.removesuffix(" python3 ibverbs-providers") for asked in by_script] == by_tools
