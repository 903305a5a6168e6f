"""`pulumi package add` by the repository's tag: the engine clones it, and its provider serves a TypeScript program."""

import os
import site
import subprocess
import sys
from pathlib import Path

import pytest
from aks_infiniband.provider.host import Provider

from rehearsal.engine.languages.hosts import host
from rehearsal.tools.paths import BIN, PROJECT
from tests.rehearsal.languages.conftest import Open, built, install_provider
from tests.rehearsal.languages.forge import HOST, forge

pytestmark = [pytest.mark.long, pytest.mark.timeout(1500)]

VERSION = Provider().version


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `provider` that the engine has made of the tag, with the environment that it has made there."""
    folder = tmp_path_factory.mktemp("by-tag")
    repository, links, program = folder / "repository.git", folder / "links", folder / "program"
    for each in (links, program):
        each.mkdir()
    subprocess.run(["git", "clone", "--quiet", "--bare", str(PROJECT), str(repository)], check=True)
    subprocess.run(["git", "-C", str(repository), "tag", f"v{VERSION}", "HEAD"], check=True)
    (program / "Pulumi.yaml").write_text("name: ours\nruntime: yaml\n")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PULUMI_")}
    environment |= {"PATH": os.pathsep.join([str(built(lambda: host("yaml"))), str(BIN), os.environ["PATH"]])}
    environment |= {"PULUMI_HOME": str(folder / "home"), "PULUMI_SKIP_UPDATE_CHECK": "1"}
    # Dependencies are those of this project's environment: pip reaches no index.
    environment |= {"PYTHONPATH": site.getsitepackages()[0], "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1"}
    environment |= {"PIP_FIND_LINKS": str(build_tools(links))}
    with forge(repository, folder) as reached:
        address = f"{HOST}/example/aks-infiniband/provider@v{VERSION}"
        command = [str(BIN / "pulumi"), "package", "add", address]
        done = subprocess.run(
            command,
            cwd=program,
            env={**environment, **reached},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
    found = folder / "home" / "plugins" / f"resource-{HOST}_example_aks-infiniband.git_provider-v{VERSION}" / "provider"
    # The engine then fetches the providers of Azure and Kubernetes, which this forge does not have.
    assert "Finished installing dependencies" in done.stdout + done.stderr, done.stderr
    (packages,) = found.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(f"{site.getsitepackages()[0]}\n")
    return found


def build_tools(links: Path) -> Path:
    """The packages by which pip builds a wheel, as `provider/requirements.txt` has one to build."""
    wanted = ["setuptools", "wheel"]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(links), *wanted]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("the packages that build a wheel cannot be had here")
    return links


def test_the_folder_is_the_repositorys_and_its_environment_has_the_library_of_the_tag(installed: Path) -> None:
    assert (installed.parent / "components" / "pyproject.toml").is_file(), "the whole repository, not the folder alone"
    python = installed / "bin" / "python"
    asked = (
        "import aks_infiniband, importlib.metadata as m; print(aks_infiniband.__file__, m.version('aks-infiniband'))"
    )
    place, version = subprocess.check_output([python, "-c", asked], env={"PATH": os.environ["PATH"]}, text=True).split()
    assert Path(place).is_relative_to(installed)
    assert version == VERSION


def test_a_program_in_typescript_gets_a_validated_cluster_from_it(installed: Path, program: Open) -> None:
    made = program("typescript", "hpc", "nodejs")
    started = install_provider(made.rehearsal.engine_as_it_is().plugins, installed / "bin" / "python", installed)
    up = made.up()
    assert up.succeeded, up.said
    assert started.exists(), "the provider was the tag's"
    assert made.outputs()["pools"]["hbv4"]["validation"]["verdict"] == "pass"
    assert made.destroy().succeeded
