"""`pip install ./components` gives another's program all that it needs, and nothing of this checkout.

`./command_line` in addition to it gives the command.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from rehearsal.tools.paths import PROJECT

COMPONENTS, COMMAND_LINE = PROJECT / "components", PROJECT / "command_line"
PACKAGING: dict[str, Any] = tomllib.loads((COMPONENTS / "pyproject.toml").read_text())
COMMAND: dict[str, Any] = tomllib.loads((COMMAND_LINE / "pyproject.toml").read_text())


def run(*command: str, cwd: Path, seconds: float = 300) -> subprocess.CompletedProcess[str]:
    """A command without our environment. seconds: of its time limit."""
    environment = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    limits: dict[str, Any] = {"env": environment, "timeout": seconds}
    return subprocess.run(command, cwd=cwd, check=False, capture_output=True, text=True, **limits)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter of a new environment with library and command line in it, built from a copy as pip builds them.

    Its dependencies are this environment's: a separate test checks if it suits.
    """
    folder = tmp_path_factory.mktemp("library")
    (backend,) = PACKAGING["build-system"]["requires"]
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    reached = run(*pip, "download", "--no-deps", "--dest", "backend", "--retries", "1", backend, cwd=folder)
    if reached.returncode != 0:
        pytest.skip(f"no package registry is in reach: {reached.stderr.strip().splitlines()[-1]}")
    left = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
    for source in (COMPONENTS, COMMAND_LINE):
        shutil.copytree(source, folder / source.name, ignore=left)
    sources = (f"./{COMPONENTS.name}", f"./{COMMAND_LINE.name}")
    built = run(*pip, "wheel", "--no-deps", "--wheel-dir", "wheels", *sources, cwd=folder)
    assert built.returncode == 0, built.stderr
    wheels = [str(wheel) for wheel in (folder / "wheels").glob("*.whl")]
    assert len(wheels) == len(sources)
    made = run(sys.executable, "-m", "venv", "fresh", cwd=folder)
    assert made.returncode == 0, made.stderr
    fresh = str(folder / "fresh/bin/python")
    installed = run(fresh, "-m", "pip", "install", "--no-deps", "--no-index", *wheels, cwd=folder)
    assert installed.returncode == 0, installed.stderr
    (packages,) = (folder / "fresh/lib").glob("python*/site-packages")
    # A folder that is added so lends its packages, but not its own .pth files: the checkout stays out of it.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return fresh


def said(python: str, program: str, folder: Path) -> str:
    done = run(python, "-c", program, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_every_public_name_can_be_imported_from_the_installed_library(python: str, tmp_path: Path) -> None:
    program = (
        "import aks_infiniband\n"
        "for name in aks_infiniband.__all__:\n    getattr(aks_infiniband, name)\n"
        "print(aks_infiniband.__file__)"
    )
    assert Path(said(python, program, tmp_path)).is_relative_to(Path(python).parents[1])


def test_what_is_read_at_run_time_is_installed_too(python: str, tmp_path: Path) -> None:
    program = (
        "from importlib.resources import files\n"
        "from aks_infiniband.validation.program import payload_files\n"
        "assert files('aks_infiniband').joinpath('py.typed').is_file(), 'not typed'\n"
        "assert 'all_reduce' in files('aks_infiniband.workload.sample').joinpath('all_reduce.py').read_text()\n"
        "assert 'collective/count_differing.ptx' in payload_files()\n"
        "import aks_infiniband.workload.guard\n"
        "print(len(payload_files()))"
    )
    assert int(said(python, program, tmp_path)) > 5


@pytest.mark.parametrize(
    ("command", "called"), [("aks-infiniband", "aks-infiniband"), ("kubectl-infiniband", "kubectl infiniband")]
)
def test_the_command_is_installed_and_starts(python: str, tmp_path: Path, command: str, called: str) -> None:
    """called: how a person calls it."""
    assert command in COMMAND["project"]["scripts"]
    started = run(str(Path(python).with_name(command)), "--help", cwd=tmp_path)
    assert started.returncode == 0, started.stderr
    assert f"usage: {called}" in started.stdout


def test_the_command_line_asks_for_the_library_of_its_own_version(python: str, tmp_path: Path) -> None:
    program = (
        "from importlib.metadata import requires, version\n"
        "print(version('aks-infiniband-cli'), *requires('aks-infiniband-cli'))"
    )
    version, *asked = said(python, program, tmp_path).split()
    assert version == PACKAGING["project"]["version"]
    assert f"aks-infiniband=={version}" in asked


def test_the_installed_library_brings_nothing_but_itself_and_its_provider(python: str, tmp_path: Path) -> None:
    program = (
        "from importlib.metadata import files; "
        "print({f.name if f.parts[0] == '..' else f.parts[0] for f in files('aks-infiniband')})"
    )
    found = re.findall(r"'([^']+)'", said(python, program, tmp_path))
    (provider,) = PACKAGING["project"]["scripts"]
    assert set(found) == {"aks_infiniband", f"aks_infiniband-{PACKAGING['project']['version']}.dist-info", provider}


def test_what_is_installed_here_suits_what_library_and_command_line_ask_for() -> None:
    asked = PACKAGING["project"]["dependencies"] + (metadata.requires("aks-infiniband-cli") or [])
    unsuited = [
        text for text in asked if not Requirement(text).specifier.contains(metadata.version(Requirement(text).name))
    ]
    assert unsuited == []
