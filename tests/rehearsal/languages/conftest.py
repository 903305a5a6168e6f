"""A program in another language than Python, in a data centre of its own."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from aks_infiniband.provider.host import Provider

from rehearsal.engine.languages.hosts import Language, UnavailableError, host, node_modules
from rehearsal.testing.plugin import Rehearse
from rehearsal.testing.stack import RehearsedStack
from rehearsal.tools.paths import PROJECT

EXAMPLES = PROJECT / "provider" / "examples"

Open = Callable[[str, str, Language], RehearsedStack]


@pytest.fixture
def program(tmp_path: Path, rehearse: Rehearse, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens an example: its name, its stack, the language. The language's host is on PATH, as for anybody else."""

    def opened(name: str, stack: str, language: Language) -> RehearsedStack:
        project = tmp_path / "project"
        shutil.copytree(EXAMPLES / name, project, ignore=shutil.ignore_patterns("node_modules"))
        try:
            monkeypatch.setenv("PATH", os.pathsep.join([str(host(language)), os.environ["PATH"]]))
            if language == "nodejs":
                (project / "node_modules").symlink_to(node_modules(project))
        except UnavailableError as error:
            pytest.skip(f"programs in this language cannot be run here: {error}")
        _without_plugin_folder(project / "Pulumi.yaml")
        rehearsed: RehearsedStack = rehearse(project, stack)
        _install_provider(rehearsed.rehearsal.engine_as_it_is().plugins)
        return rehearsed

    return opened


def _without_plugin_folder(file: Path) -> None:
    """The rehearsal's Python host is older than its engine, and starts no provider from a folder: see below."""
    document = yaml.safe_load(file.read_text())
    del document["plugins"]
    file.write_text(yaml.safe_dump(document, sort_keys=False))


def _install_provider(plugins: Path) -> None:
    """The provider as an installed plugin: a program that starts the folder's own one."""
    program = plugins / f"resource-aks-infiniband-v{Provider().version}" / "pulumi-resource-aks-infiniband"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {PROJECT / "provider" / "__main__.py"} "$@"\n')
    program.chmod(0o755)
