"""The same afternoon in YAML and in TypeScript: every block of the page, with the provider that the wheel brings."""

import json
import re
import subprocess
from collections.abc import Iterator

import pytest

from rehearsal.engine.languages.hosts import Language, UnavailableError, host, node_modules
from rehearsal.tools.paths import PROJECT
from tests.snippets import snippets

from .conftest import Folder, install

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]  # the first run builds a host

PAGE = "afternoon-in-other-languages.md"
INSTALL, PATH, CHECKS, BREAK, MEND, WORKLOAD, STOP = snippets(PAGE, "sh")
STACK_FILE, IN_YAML, OF_TYPESCRIPT, BROKEN, MENDED = snippets(PAGE, "yaml")
OF_BOTH = {"Pulumi.prod.yaml": STACK_FILE, "broken.yaml": BROKEN, "mended.yaml": MENDED}
FILES: dict[Language, dict[str, str]] = {
    "yaml": {"Pulumi.yaml": IN_YAML},
    "nodejs": {
        "Pulumi.yaml": OF_TYPESCRIPT,
        **dict(zip(("package.json", "tsconfig.json"), snippets(PAGE, "json"), strict=True)),
        **dict(zip(("fleet.ts", "index.ts", "fleet.test.ts"), snippets(PAGE, "ts"), strict=True)),
    },
}
EXAMPLE = PROJECT / "provider" / "examples" / "typescript"


@pytest.fixture(scope="module", params=["yaml", "nodejs"])
def language(request: pytest.FixtureRequest) -> Language:
    found: Language = request.param
    return found


@pytest.fixture(scope="module")
def installed(folder: Folder, language: Language) -> Iterator[Folder]:
    """The team's folder with its program; host and packages are there, as with the Pulumi CLI and npm."""
    if not (folder.path / ".venv").exists():
        install(folder, INSTALL)
    for file in [path for path in folder.path.iterdir() if path.is_file()]:
        file.unlink()
    for name, text in (OF_BOTH | FILES[language]).items():
        (folder.path / name).write_text(text)
    try:
        folder.programs = (folder.path / ".venv" / "bin", host(language))
        if language == "nodejs":
            (folder.path / "node_modules").symlink_to(node_modules(EXAMPLE))
    except UnavailableError as error:
        pytest.skip(f"programs in this language cannot be run here: {error}")
    yield folder
    folder.shell(STOP)


@pytest.fixture(scope="module")
def broken(installed: Folder) -> subprocess.CompletedProcess[str]:
    return installed.shell(BREAK)


@pytest.fixture(scope="module")
def mended(installed: Folder, broken: object) -> subprocess.CompletedProcess[str]:
    return installed.shell(MEND)


def test_the_provider_on_the_path_is_the_wheels(installed: Folder) -> None:
    found = installed.shell(f"{PATH}\ncommand -v pulumi-resource-aks-infiniband").stdout.strip()
    assert found == str(installed.path / ".venv/bin/pulumi-resource-aks-infiniband")


def test_the_program_passes_the_strict_compiler_and_its_test(installed: Folder, language: Language) -> None:
    if language == "yaml":
        pytest.skip("a program in YAML has no types and no tests of its own")
    install_packages, types, test = CHECKS.splitlines()
    pinned = json.loads((EXAMPLE / "package.json").read_text())
    given = json.loads((installed.path / "package.json").read_text())
    for key in ("dependencies", "devDependencies"):
        assert given[key] == pinned[key], f"{install_packages} is done for the example's packages alone"
    for command in (types, test):
        done = installed.shell(command)
        assert done.returncode == 0, done.stdout + done.stderr
    (installed.path / "fleet.test.ts").write_text(FILES["nodejs"]["fleet.test.ts"].replace(", TAGS", "", 1))
    assert installed.shell(types).returncode != 0


def test_a_fault_fails_the_rehearsal_and_is_told_with_machine_and_device(
    broken: subprocess.CompletedProcess[str],
) -> None:
    assert broken.returncode == 1, broken.stdout + broken.stderr
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
