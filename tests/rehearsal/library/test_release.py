"""`make release` in a fresh clone: what it leaves is whole, named by its checksums, and installs from its folder."""

import json
import subprocess
import tarfile
import time
from email.parser import HeaderParser
from pathlib import Path
from typing import Final
from zipfile import ZipFile

import pytest
import yaml

from rehearsal.tools.paths import PROJECT
from tests.rehearsal.library.test_installation import PACKAGING, run
from tests.rehearsal.stacks.conftest import copy_of_project

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]

REPOSITORY: Final = "https://forge.example/owner/aks-infiniband"
VERSION: Final[str] = PACKAGING["project"]["version"]
CHART: Final = f"aks-infiniband-checks-{VERSION}.tgz"
NAMES: Final = ("aks-infiniband", "aks-infiniband-cli", "aks-infiniband-rehearsal")


def released(folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """`make release` in a clone."""
    given = [f"{name}={value}" for name, value in variables.items()]
    return run("env", "-u", "MAKEFLAGS", *given, "make", "release", cwd=folder, seconds=900)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone that a remote of no forge has given."""
    folder = tmp_path_factory.mktemp("release") / "clone"
    cloned = run("git", "clone", "--quiet", str(PROJECT), str(folder), cwd=folder.parent)
    assert cloned.returncode == 0, cloned.stderr
    return folder


@pytest.fixture(scope="module")
def dist(clone: Path) -> Path:
    """The folder that `make release` fills."""
    done = released(clone, REPOSITORY=REPOSITORY, TAG=f"v{VERSION}")
    assert done.returncode == 0, done.stdout + done.stderr
    return clone / "dist"


def test_every_file_is_named_by_its_checksum(dist: Path) -> None:
    assert run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=dist).returncode == 0
    named = {line.split()[1].removeprefix("./") for line in (dist / "SHA256SUMS").read_text().splitlines()}
    assert named == {path.name for path in dist.iterdir()} - {"SHA256SUMS"}
    assert CHART in named
    kinds = ("-py3-none-any.whl", ".tar.gz", ".cdx.json", ".licenses.csv")
    for name in NAMES:
        for kind in kinds:
            file = name.replace("-", "_") if kind[0] == "-" or kind == ".tar.gz" else name
            assert f"{file}-{VERSION}{kind}" in named


@pytest.mark.parametrize("name", NAMES)
def test_a_distribution_links_to_the_repository_that_released_it(dist: Path, name: str) -> None:
    (wheel,) = dist.glob(f"{name.replace('-', '_')}-*.whl")
    with ZipFile(wheel) as opened:
        (metadata,) = [path for path in opened.namelist() if path.endswith("/METADATA")]
        headers = HeaderParser().parsestr(opened.read(metadata).decode())
    links = dict(link.split(", ", 1) for link in headers.get_all("Project-URL") or [])
    assert links["Repository"] == REPOSITORY
    assert links["Changelog"] == f"{REPOSITORY}/blob/v{VERSION}/CHANGELOG.md"
    assert not [line for line in headers.get_all("Classifier") or [] if line.startswith("Private")]


def test_the_chart_is_of_the_version_and_links_to_the_repository(dist: Path) -> None:
    with tarfile.open(dist / CHART) as archive:
        described = archive.extractfile("aks-infiniband-checks/Chart.yaml")
        assert described
        chart = yaml.safe_load(described.read())
        names = archive.getnames()
    assert (chart["version"], chart["home"], chart["sources"]) == (VERSION, REPOSITORY, [REPOSITORY])
    assert {"aks-infiniband-checks/values.schema.json", "aks-infiniband-checks/LICENSE"} <= set(names)


def test_the_notes_are_those_of_the_version_and_the_site_has_a_first_page(dist: Path) -> None:
    notes = (dist / "NOTES.md").read_text()
    assert notes.strip()
    assert "## [" not in notes
    with tarfile.open(dist / f"aks-infiniband-{VERSION}-site.tgz") as site:
        assert "./index.html" in site.getnames()


def test_with_the_release_as_index_an_empty_machine_rehearses_a_program_without_building_anything(
    dist: Path, tmp_path: Path
) -> None:
    assert run("python3", "-m", "venv", "fresh", cwd=tmp_path).returncode == 0
    names = ("aks-infiniband-cli", "aks-infiniband-rehearsal-tools")
    installed = run("fresh/bin/pip", "install", "--quiet", "--find-links", str(dist), *names, cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr
    said = run("fresh/bin/aks-infiniband", "--version", cwd=tmp_path)
    assert f"aks-infiniband {VERSION}" in said.stdout, said.stdout
    project, empty = copy_of_project(tmp_path / "project"), f"AKS_INFINIBAND_TOOLS_CACHE={tmp_path / 'cache'}"
    begun = time.monotonic()
    taken = run("env", empty, "fresh/bin/rehearsal", "tools", cwd=tmp_path)
    assert "tools: taken from aks-infiniband-rehearsal-tools" in taken.stdout, taken.stdout + taken.stderr
    up = run("env", empty, str(tmp_path / "fresh/bin/rehearsal"), "up", "hbv4", cwd=project)
    assert up.returncode == 0, up.stdout + up.stderr
    print(f"the first rehearsal, with the tools' wheel: {time.monotonic() - begun:.0f} s")
    assert json.loads((project / ".rehearsal/hbv4/result.json").read_text())["validation"]["hbv4"]["verdict"] == "pass"


def test_a_tag_of_another_version_is_refused_before_anything_is_built(clone: Path, dist: Path) -> None:
    refused = released(clone, TAG="v9.9.9")
    assert refused.returncode != 0
    assert f"the tag v9.9.9 must be v{VERSION}" in refused.stdout + refused.stderr
