"""A program in another language than Python, in a data centre of its own."""

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband.provider.host import Provider

from rehearsal.control_plane import RunFolder
from rehearsal.engine.languages.hosts import Language, UnavailableError, host, node_modules
from rehearsal.engine.pulumi import Engine
from rehearsal.session import Rehearsal
from rehearsal.tools.paths import PROJECT
from tests.rehearsal.engine_runs import Outcome, run
from tests.rehearsal.stacks.conftest import SPEED

EXAMPLES = PROJECT / "provider" / "examples"


@dataclass
class Program:
    """One of the examples, and the engine that runs it."""

    engine: Engine

    def run(self, command: str) -> Outcome:
        return run(self.engine, command)


Open = Callable[..., Any]


@pytest.fixture
def program(tmp_path: Path) -> Open:
    """Opens an example: its name, its stack, the language, and what its stack file says beside."""

    @contextmanager
    def opened(
        name: str, stack: str, language: Language, config: Callable[[RunFolder], Mapping[str, Any]] = lambda _: {}
    ) -> Iterator[Program]:
        project = tmp_path / "project"
        shutil.copytree(EXAMPLES / name, project, ignore=shutil.ignore_patterns("node_modules"))
        try:
            folder = host(language)
            if language == "nodejs":
                (project / "node_modules").symlink_to(node_modules(project))
        except UnavailableError as error:
            pytest.skip(f"programs in this language cannot be run here: {error}")
        folder_run = RunFolder.at(tmp_path / "run")
        _without_plugin_folder(project / "Pulumi.yaml")
        _add_config(project / f"Pulumi.{stack}.yaml", config(folder_run))
        rehearsal = Rehearsal(project=project, stack=stack, run=folder_run, speed=SPEED)
        with rehearsal.data_centre():
            engine = rehearsal.engine()
            _install_provider(engine.plugins)
            yield Program(replace(engine, bin_folders=(*engine.bin_folders, folder)))

    return opened


def _without_plugin_folder(file: Path) -> None:
    """The rehearsal's Python host is older than its engine, and starts no provider from a folder: see below."""
    document = yaml.safe_load(file.read_text())
    del document["plugins"]
    file.write_text(yaml.safe_dump(document, sort_keys=False))


def _add_config(file: Path, config: Mapping[str, Any]) -> None:
    document = yaml.safe_load(file.read_text())
    document["config"] |= config
    file.write_text(yaml.safe_dump(document))


def _install_provider(plugins: Path) -> None:
    """The provider as an installed plugin: a program that starts the folder's own one."""
    program = plugins / f"resource-aks-infiniband-v{Provider().version}" / "pulumi-resource-aks-infiniband"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {PROJECT / "provider" / "__main__.py"} "$@"\n')
    program.chmod(0o755)
