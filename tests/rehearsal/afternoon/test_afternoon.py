"""A team's afternoon, from the wheels in an empty folder to a Job on its machines. The tests follow one another.

Every block is executed as its page has it: in Python, and in YAML and TypeScript with the provider that the wheel
brings. The wheels' dependencies come from this environment, because no test talks to a registry.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rehearsal.engine.languages.hosts import UnavailableError, host, node_modules
from rehearsal.tools.paths import PROJECT

from .conftest import Folder, install
from .days import DAYS, Language

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]  # the first run builds a host

EXAMPLE = PROJECT / "provider" / "examples" / "typescript"
in_python = pytest.mark.parametrize("language", ["python"], scope="module")
in_typescript = pytest.mark.parametrize("language", ["nodejs"], scope="module")
in_others = pytest.mark.parametrize("language", ["yaml", "nodejs"], scope="module")
in_each = pytest.mark.parametrize("language", list(DAYS), scope="module")


@pytest.fixture(scope="module")
def installed(empty: Folder, language: Language) -> Iterator[Folder]:
    """The team's folder with its program; a language's host and packages are there, as with the Pulumi CLI and npm."""
    day = DAYS[language]
    install(empty, day.install)
    for name, text in day.files.items():
        (empty.path / name).write_text(text)
    try:
        hosts = () if language == "python" else (host(language),)
        empty.programs = (empty.path / ".venv" / "bin", *hosts)
        if language == "nodejs":
            (empty.path / "node_modules").symlink_to(node_modules(EXAMPLE))
    except UnavailableError as error:
        pytest.skip(f"programs in this language cannot be run here: {error}")
    yield empty
    empty.shell(day.stop)


@pytest.fixture(scope="module")
def broken(installed: Folder, language: Language) -> subprocess.CompletedProcess[str]:
    return installed.shell(DAYS[language].breaks)


@pytest.fixture(scope="module")
def mended(installed: Folder, language: Language, broken: object) -> subprocess.CompletedProcess[str]:
    return installed.shell(DAYS[language].mends)


@in_python
def test_nothing_is_imported_from_the_checkout(installed: Folder) -> None:
    program = "import aks_infiniband, aks_infiniband_cli, rehearsal as r; print(aks_infiniband.__file__, r.__file__)"
    said = installed.shell(f'.venv/bin/python -c "{program}"').stdout.split()
    assert all(Path(file).is_relative_to(installed.path) for file in said)
    assert len(said) == 2


@in_python
def test_the_program_passes_a_strict_type_checker_and_its_unit_tests_on_mocks(
    installed: Folder, language: Language
) -> None:
    packages, types, unit = DAYS[language].checks.splitlines()
    assert installed.shell(packages).returncode == 0
    checked = installed.shell(types)
    assert checked.returncode == 0, checked.stdout
    tested = installed.shell(unit)
    assert tested.returncode == 0, tested.stdout
    assert "2 passed" in tested.stdout


@in_others
def test_the_provider_on_the_path_is_the_wheels(installed: Folder, language: Language) -> None:
    found = installed.shell(f"{DAYS[language].path}\ncommand -v pulumi-resource-aks-infiniband").stdout.strip()
    assert found == str(installed.path / ".venv/bin/pulumi-resource-aks-infiniband")


@in_typescript
def test_the_program_passes_the_strict_compiler_and_its_test(installed: Folder, language: Language) -> None:
    install_packages, types, test = DAYS[language].checks.splitlines()
    pinned = json.loads((EXAMPLE / "package.json").read_text())
    given = json.loads((installed.path / "package.json").read_text())
    for key in ("dependencies", "devDependencies"):
        assert given[key] == pinned[key], f"{install_packages} is done for the example's packages alone"
    for command in (types, test):
        done = installed.shell(command)
        assert done.returncode == 0, done.stdout + done.stderr
    its_test = installed.path / "fleet.test.ts"
    its_test.write_text(its_test.read_text().replace(", TAGS", "", 1))
    assert installed.shell(types).returncode != 0


@in_each
def test_a_fault_fails_the_rehearsal_and_is_told_with_machine_and_device(
    broken: subprocess.CompletedProcess[str],
) -> None:
    assert broken.returncode == 1, broken.stdout + broken.stderr
    _, failed, causes = broken.stdout.partition("The rehearsal failed.")
    assert failed, broken.stdout
    assert re.search(r"hca-state +aks-hb-\d+-vmss000001 +ACTIVE +DOWN\s+\(mlx5_0\)", causes), causes


@in_each
def test_once_mended_both_clusters_pass(installed: Folder, mended: subprocess.CompletedProcess[str]) -> None:
    assert mended.returncode == 0, mended.stdout[-3000:]
    outputs = json.loads((installed.path / ".rehearsal/prod/result.json").read_text())["outputs"]
    pools = [outputs[f"pools-{region}"]["hb"] for region in ("southcentralus", "westeurope")]
    assert [pool["validation"]["verdict"] for pool in pools] == ["pass", "pass"]


@in_each
def test_the_workload_runs_on_both_machines_of_a_cluster(
    installed: Folder, language: Language, mended: subprocess.CompletedProcess[str]
) -> None:
    ran = installed.shell(DAYS[language].workload)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("mlx5_0: 4: ACTIVE, 400 Gb/sec (4X NDR)") == 2


@in_each
def test_what_was_kept_is_ended(installed: Folder, language: Language, mended: object) -> None:
    stopped = installed.shell(DAYS[language].stop)
    assert stopped.returncode == 0, stopped.stderr
    assert stopped.stdout.count("kube-apiserver") == 2
