"""Azure on the loopback address, for the commands that call it."""

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband_cli import main as door
from aks_infiniband_cli.console import Answer, Command
from aks_infiniband_cli.main import main

from tests.unit.command_line.arm import Arm
from tests.unit.command_line.documented import documented
from tests.unit.command_line.logged_in import ROOT, logged_in
from tests.unit.command_line.preflight_stacks import Checked
from tests.unit.components.test_stack_files import KUBECONFIG

_BY_NAME = frozenset({"pools", "verdicts", "measured_on", "cordoned", "not_cordoned", "uncordoned", "sample"})
"""Keys under which a document has pools or nodes by their names, or objects of Kubernetes."""


def keys(document: Any) -> Iterator[str]:
    """Every key of a document, those of its parts included; names of pools and nodes are none."""
    if isinstance(document, Mapping):
        for key, value in document.items():
            yield key
            yield from () if key in _BY_NAME and isinstance(value, Mapping) else keys(value)
    elif isinstance(document, list | tuple):
        for part in document:
            yield from keys(part)


@pytest.fixture(autouse=True)
def documents_have_the_pages_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a test has a command do: no key of its document is missing on the page of the command line."""

    def held(command: Command) -> Command:
        def run(given: argparse.Namespace) -> Answer:
            answer = command.run(given)
            assert set(keys(answer.document)) <= documented()[command.name]
            return answer

        return replace(command, run=run)

    monkeypatch.setattr(door, "COMMANDS", tuple(map(held, door.COMMANDS)))


@pytest.fixture
def arm() -> Arm:
    return Arm()


@pytest.fixture
def endpoint(arm: Arm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Azure's URL, for a user who is logged in and is in the project's folder."""
    monkeypatch.chdir(ROOT)
    with logged_in(arm, tmp_path, monkeypatch) as url:
        yield url


@pytest.fixture
def preflight(endpoint: str) -> list[str]:
    """The command with its flag."""
    return ["preflight", "--endpoint", endpoint]


@pytest.fixture
def checked(preflight: list[str], capsys: pytest.CaptureFixture[str]) -> Checked:
    """Runs a preflight; gives the exit code and the lines by their check."""

    def run(*more: str) -> tuple[int, dict[str, Any]]:
        code = main([*preflight, "--output", "json", *more])
        return code, {line["check"]: line for line in json.loads(capsys.readouterr().out)["checks"]}

    return run


@pytest.fixture
def kubeconfig_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kubeconfig that `Pulumi.existing.yaml` names, in a home folder that is the test's own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text(KUBECONFIG)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project, without stack files, in another folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("__main__.py", "Pulumi.yaml", "values"):
        (folder / name).symlink_to(ROOT / name)
    return folder
