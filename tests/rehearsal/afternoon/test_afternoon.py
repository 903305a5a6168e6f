"""A team's afternoon, from the wheels in an empty folder to a Job on its machines. The tests follow one another.

Every block is executed as the page has it. What the wheels depend on is this environment's, because no test talks to a
registry.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rehearsal.tools.paths import PROJECT
from tests.snippets import snippets

pytestmark = pytest.mark.long

SOURCES = ("components", "command_line", "rehearsal")
INSTALL, TYPES, UNIT, BREAK, MEND, WORKLOAD, STOP = snippets("afternoon.md", "sh")
PROGRAM, STACK_FILE, BROKEN, MENDED = snippets("afternoon.md", "yaml")
FLEET, MAIN, TEST = snippets("afternoon.md", "python")
FILES = {
    "Pulumi.yaml": PROGRAM,
    "Pulumi.prod.yaml": STACK_FILE,
    "broken.yaml": BROKEN,
    "mended.yaml": MENDED,
    "fleet.py": FLEET,
    "__main__.py": MAIN,
    "test_fleet.py": TEST,
    "pyproject.toml": snippets("afternoon.md", "toml")[0],
}


class Folder:
    """The team's folder, and what its commands said and took."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def shell(self, commands: str) -> subprocess.CompletedProcess[str]:
        """Runs a block in one shell, as a person pastes it."""
        dropped = {"PYTHONPATH", "VIRTUAL_ENV"}
        environment = {key: value for key, value in os.environ.items() if key not in dropped}
        # kubectl is a program of a package that is lent; pip finds what is lent, and asks no registry for anything.
        path = os.pathsep.join([environment["PATH"], str(Path(sys.executable).parent)])
        environment |= {"PATH": path, "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1"}
        begun = time.monotonic()
        done = subprocess.run(
            ["bash", "-euc", commands], cwd=self.path, env=environment, check=False, capture_output=True, text=True
        )
        print(f"{time.monotonic() - begun:.0f} s: {commands.splitlines()[0]}")
        return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    """An empty folder outside the checkout, with the wheels of this release."""
    place = tmp_path_factory.mktemp("afternoon")
    left = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
    for source in SOURCES:
        shutil.copytree(PROJECT / source, place / "sources" / source, ignore=left)
    team = Folder(place / "weather")
    team.path.mkdir()
    pip = f"{sys.executable} -m pip --disable-pip-version-check wheel --quiet --no-deps --no-build-isolation"
    built = team.shell(f"{pip} --wheel-dir wheels {' '.join(str(place / 'sources' / source) for source in SOURCES)}")
    assert built.returncode == 0, built.stderr
    yield team
    team.shell(STOP)


@pytest.fixture(scope="module")
def installed(folder: Folder) -> Folder:
    environment, wheels, others, tools = INSTALL.splitlines()
    first = folder.shell(f"{environment}\n{wheels}")
    assert first.returncode == 0, first.stderr
    (packages,) = (folder.path / ".venv/lib").glob("python*/site-packages")
    # A folder that is added so lends its packages, but not its own .pth files: the checkout stays out of it.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    second = folder.shell(f"{others}\n{tools}")
    assert second.returncode == 0, second.stderr
    for name, text in FILES.items():
        (folder.path / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def broken(installed: Folder) -> subprocess.CompletedProcess[str]:
    return installed.shell(BREAK)


@pytest.fixture(scope="module")
def mended(installed: Folder, broken: object) -> subprocess.CompletedProcess[str]:
    return installed.shell(MEND)


def test_nothing_is_imported_from_the_checkout(installed: Folder) -> None:
    program = "import aks_infiniband, aks_infiniband_cli, rehearsal as r; print(aks_infiniband.__file__, r.__file__)"
    said = installed.shell(f'.venv/bin/python -c "{program}"').stdout.split()
    assert all(Path(file).is_relative_to(installed.path) for file in said)
    assert len(said) == 2


def test_the_program_passes_a_strict_type_checker(installed: Folder) -> None:
    checked = installed.shell(TYPES)
    assert checked.returncode == 0, checked.stdout


def test_its_unit_tests_pass_on_mocks(installed: Folder) -> None:
    tested = installed.shell(UNIT)
    assert tested.returncode == 0, tested.stdout
    assert "2 passed" in tested.stdout


def test_a_fault_fails_the_rehearsal_and_is_told_with_machine_and_device(
    broken: subprocess.CompletedProcess[str],
) -> None:
    assert broken.returncode == 1, broken.stderr
    _, failed, causes = broken.stdout.partition("The rehearsal failed.")
    assert failed, broken.stdout
    assert re.search(r"hca-state +aks-hb-\d+-vmss000001 +ACTIVE +DOWN\s+\(mlx5_0\)", causes), causes


def test_once_mended_both_clusters_pass(installed: Folder, mended: subprocess.CompletedProcess[str]) -> None:
    assert mended.returncode == 0, mended.stdout[-3000:]
    outputs = json.loads((installed.path / ".rehearsal/prod/result.json").read_text())["outputs"]
    pools = [outputs[f"pools-{region}"]["hb"] for region in ("southcentralus", "westeurope")]
    assert [pool["validation"]["verdict"] for pool in pools] == ["pass", "pass"]


def test_the_workload_runs_on_both_machines_of_a_cluster(
    installed: Folder, mended: subprocess.CompletedProcess[str]
) -> None:
    ran = installed.shell(WORKLOAD)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("mlx5_0: 4: ACTIVE, 400 Gb/sec (4X NDR)") == 2


def test_what_was_kept_is_ended(installed: Folder, mended: object) -> None:
    stopped = installed.shell(STOP)
    assert stopped.returncode == 0, stopped.stderr
    assert stopped.stdout.count("kube-apiserver") == 2
