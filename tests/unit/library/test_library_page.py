"""docs/library.md describes the library as it is."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from declared.pulumi_mocks import Deploy
from tests.snippets import DOCS, snippets
from tests.unit.library.public import COMPONENTS

KUBECONFIG = Path(__file__).parents[1] / "components" / "kubeconfig.yaml"


def test_the_page_lists_every_component() -> None:
    table = (DOCS / "library.md").read_text().partition("## Resource options")[0]
    assert sorted(re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)) == COMPONENTS


def run(program: str) -> dict[str, Any]:
    made: dict[str, Any] = {}
    exec(compile(program, "docs/library.md", "exec"), made)  # the page's own program
    return made


def test_the_pages_first_program_installs_the_network_operator(
    deploy: Deploy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, _ = snippets("library.md", "python")
    assert len(program.rpartition("\n\n")[2].splitlines()) < 10
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".kube").mkdir()
    shutil.copy(KUBECONFIG, tmp_path / ".kube" / "config")
    monkeypatch.setattr("pulumi.export", lambda name, value: None)  # a test's program lacks outputs
    (release,) = deploy(lambda: run(program)["operator"].namespace).all("kubernetes:helm.sh/v3:Release")
    assert release.inputs["name"] == "network-operator"
    assert "network-operator" in release.urn


def test_the_pages_second_program_makes_what_it_says() -> None:
    _, program = snippets("library.md", "python")
    made = run(program)
    assert made["template"]["spec"]["nodeSelector"] == {"machines": "h100"}
    assert {item["metadata"]["namespace"] for item in made["job"]["items"]} == {"training"}
    assert made["topology"].startswith("<system")
