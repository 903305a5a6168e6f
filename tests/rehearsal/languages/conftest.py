"""A program in another language than Python, in a separate data centre."""

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from aks_infiniband.provider.host import Provider

from rehearsal.engine.languages.hosts import Language, UnavailableError, host, node_modules
from rehearsal.engine.pulumi import Engine
from rehearsal.session import Rehearsal
from rehearsal.testing.plugin import Rehearse
from rehearsal.testing.stack import RehearsedStack
from rehearsal.tools.paths import PROJECT

EXAMPLES = PROJECT / "provider" / "examples"

Open = Callable[[str, str, Language], RehearsedStack]
FOLDER = PROJECT / "provider"


def built(get: Callable[[], Path]) -> Path:
    """Something that is built once a machine. Without it the test is skipped."""
    try:
        return get()
    except UnavailableError as error:
        pytest.skip(f"this cannot be built here: {error}")


@pytest.fixture
def program(tmp_path: Path, rehearse: Rehearse, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens an example: its name, its stack, the language. The language's host is on PATH, as for any user."""

    def opened(name: str, stack: str, language: Language) -> RehearsedStack:
        project = tmp_path / "project"
        shutil.copytree(EXAMPLES / name, project, ignore=shutil.ignore_patterns("node_modules"))
        try:
            others = [each for each in os.environ["PATH"].split(os.pathsep) if Path(each) != _OURS]
            monkeypatch.setenv("PATH", os.pathsep.join([str(host(language)), *others]))
            if language == "nodejs":
                (project / "node_modules").symlink_to(node_modules(project))
        except UnavailableError as error:
            pytest.skip(f"programs in this language cannot be run here: {error}")
        _without_plugin_folder(project / "Pulumi.yaml")
        monkeypatch.setattr(Rehearsal, "engine_as_it_is", _of_installed_plugins)
        rehearsed: RehearsedStack = rehearse(project, stack)
        install_provider(rehearsed.rehearsal.engine_as_it_is().plugins, Path(sys.executable), FOLDER)
        return rehearsed

    return opened


_engine_as_it_is = Rehearsal.engine_as_it_is


_OURS = Path(sys.executable).parent


def _of_installed_plugins(rehearsal: Rehearsal) -> Engine:
    """An engine whose PATH lacks this project's environment: the provider there would go before an installed one."""
    engine = _engine_as_it_is(rehearsal)
    return replace(engine, bin_folders=tuple(folder for folder in engine.bin_folders if folder != _OURS))


def _without_plugin_folder(file: Path) -> None:
    """The rehearsal's Python host is older than its engine, and starts no provider from a folder: see below."""
    document = yaml.safe_load(file.read_text())
    del document["plugins"]
    file.write_text(yaml.safe_dump(document, sort_keys=False))


def install_provider(plugins: Path, python: Path, folder: Path) -> Path:
    """The provider as an installed plugin: a program that starts the one of a folder, with a Python.

    Returns the file that the program writes when it is started.
    """
    program = plugins / f"resource-aks-infiniband-v{Provider().version}" / "pulumi-resource-aks-infiniband"
    program.parent.mkdir(parents=True, exist_ok=True)
    started = program.with_name("started")
    program.write_text(f'#!/bin/sh\n: > {started}\nexec {python} {folder / "__main__.py"} "$@"\n')
    program.chmod(0o755)
    return started
