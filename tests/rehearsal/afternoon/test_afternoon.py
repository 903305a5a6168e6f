"""A team's afternoon, from the wheels in an empty folder to a Job on its machines. The tests follow one another.

Every block is executed as the page has it. What the wheels depend on is this environment's, because no test talks to a
registry.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.snippets import snippets

from .conftest import Folder, install

pytestmark = pytest.mark.long

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


@pytest.fixture(scope="module")
def installed(folder: Folder) -> Iterator[Folder]:
    install(folder, INSTALL)
    for name, text in FILES.items():
        (folder.path / name).write_text(text)
    yield folder
    folder.shell(STOP)


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
