"""Parts that come from others are named by their content, and not only by their name: packages, Go, actions, images."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband.facts import versions
from aks_infiniband.resources.registry import SOURCES, Registry
from aks_infiniband_cli.preflight.registry import RegistryError

from rehearsal.tools.go import REQUIREMENTS
from rehearsal.tools.pins import GO_PACKAGE, MODULES
from rehearsal.tools.pins import SOURCES as GO_SOURCES
from rehearsal.tools.recipes import FLAGS
from tests.digests import FILE, renewed

ROOT = Path(__file__).parents[3]
WORKFLOW = ROOT / ".github/workflows/test.yaml"
RELEASE = ROOT / ".github/workflows/release.yaml"
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
LOCKED = ("requirements-dev.txt", "requirements-pip.txt", "tests/mutation/requirements.txt")
DIGEST = f"sha256:{'a' * 64}"


def requirements(file: Path) -> Iterator[str]:
    """Each requirement with its hashes, as one line."""
    joined = file.read_text().replace("\\\n", " ")
    return (line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#"))


@pytest.mark.parametrize("file", [*map(ROOT.joinpath, LOCKED), REQUIREMENTS], ids=str)
def test_every_python_package_that_set_up_installs_has_a_version_and_hashes(file: Path) -> None:
    found = list(requirements(file))
    assert found
    for line in found:
        assert re.match(r"[a-z0-9._-]+==\S+", line), line
        assert HASH.search(line), line


def test_what_a_deployment_installs_has_the_versions_that_have_hashes() -> None:
    """`pulumi install` takes requirements.txt, which holds this repository's own folders: pip hashes no folder."""
    hashed = {line.split()[0] for line in requirements(ROOT / "requirements-dev.txt")}
    deployed = {line.split()[0] for line in requirements(ROOT / "requirements.txt") if not line.startswith("-e ")}
    assert deployed <= hashed


def test_set_up_takes_no_package_without_a_hash_and_builds_none() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert "HASHED := --require-hashes --only-binary :all: --requirement" in makefile
    installs = [line for line in makefile.splitlines() if line.startswith("\t@$(INSTALL)")]
    assert len(installs) == 4
    for line in installs:
        assert "$(HASHED)" in line or "--no-deps --no-build-isolation --editable" in line, line


def test_go_comes_by_its_hash_and_what_it_builds_by_its_modules_sums() -> None:
    assert next(requirements(REQUIREMENTS)).split()[0] == GO_PACKAGE
    assert "-mod=readonly" in FLAGS
    for module in MODULES:
        assert (GO_SOURCES / module / "go.sum").exists() == ("require" in (GO_SOURCES / module / "go.mod").read_text())
    build = (GO_SOURCES / "build.py").read_text()
    assert not re.search("GONOSUM|GOSUMDB|GOINSECURE|GOPRIVATE|GOFLAGS", build), "Go's own checks are as Go has them"


def test_a_forge_runs_what_ci_runs_with_the_least_rights_and_actions_by_their_commits() -> None:
    text = WORKFLOW.read_text()
    workflow: Any = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    assert "permissions" not in job
    assert "secrets" not in text
    assert [step["run"] for step in job["steps"] if "run" in step] == ["${{ matrix.command }}"]
    assert job["strategy"]["matrix"] == {"command": [".ci/run", "make test-simulator"]}
    assert os.access(ROOT / ".ci/run", os.X_OK)
    for step in job["steps"]:
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"]), step
    assert "persist-credentials: false" in text
    assert "pull_request_target" not in text, "it would run what others propose with our rights"


def test_a_release_is_published_by_a_tag_alone_after_an_approval_and_each_job_has_its_rights() -> None:
    text = RELEASE.read_text()
    workflow: Any = yaml.safe_load(text)
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"}
    assert [name for name, job in jobs.items() if job.get("if") != "github.ref_type == 'tag'"] == ["build"]
    assert {name: job["permissions"] for name, job in jobs.items() if "permissions" in job} == {
        "attest": {"id-token": "write", "attestations": "write"},
        "publish": {"id-token": "write"},
        "chart": {"packages": "write", "id-token": "write", "attestations": "write"},
        "draft": {"contents": "write"},
        "site": {"contents": "read", "pages": "write", "id-token": "write"},
    }
    assert (jobs["attest"]["needs"], jobs["publish"]["needs"]) == (["test", "build"], "attest")
    assert jobs["chart"]["needs"] == "publish"
    assert jobs["publish"]["environment"] == "package-index"
    assert "secrets" not in text
    (uv,) = [line.split()[0] for line in requirements(ROOT / "requirements-dev.txt") if line.startswith("uv==")]
    assert f"UV: {uv.removeprefix('uv==')} " in text


def test_every_image_of_our_own_pods_has_a_line_in_the_table_of_digests() -> None:
    ours = {
        versions.VALIDATION_IMAGE,
        versions.NCCL_IMAGE,
        versions.RCCL_IMAGE,
        versions.COLLECTIVE_IMAGE,
        versions.COLLECTIVE_IMAGE_VOLTA,
    }
    ours |= {versions.NODE_TOOLS.reference, versions.NODE_EXPORTER.reference, versions.DRANET.reference}
    known = yaml.safe_load(FILE.read_text())
    assert set(known) == ours
    assert all(digest is None or re.fullmatch("sha256:[0-9a-f]{64}", digest) for digest in known.values())


@pytest.mark.parametrize(
    ("where", "pulled"),
    [(SOURCES, "mcr.microsoft.com/a/b:1"), (Registry(images="acr.example/x"), "acr.example/x/a/b:1")],
)
def test_an_image_whose_digest_is_known_is_pulled_by_it_from_a_mirror_too(
    monkeypatch: pytest.MonkeyPatch, where: Registry, pulled: str
) -> None:
    image = "mcr.microsoft.com/a/b:1"
    assert where.image(image) == pulled
    monkeypatch.setattr(versions, "_DIGESTS", {image: DIGEST})
    assert where.image(image) == f"{pulled}@{DIGEST}"
    assert where.image("mcr.microsoft.com/a/c:1").partition("@")[1] == ""


def test_renewing_writes_what_a_registry_says_and_leaves_what_none_tells(capsys: pytest.CaptureFixture[str]) -> None:
    def digest_of(image: str) -> str:
        if image == "b/c:2":
            raise RegistryError("b cannot be reached from here")
        return DIGEST

    lines = ["# a comment", "a/b:1: null", f"b/c:2: sha256:{'b' * 64}", f"c/d:3: sha256:{'c' * 64}"]
    assert list(renewed(lines, digest_of)) == [lines[0], f"a/b:1: {DIGEST}", lines[2], f"c/d:3: {DIGEST}"]
    assert "b/c:2: b cannot be reached from here; left as it was" in capsys.readouterr().err
