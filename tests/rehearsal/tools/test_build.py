"""The build, with a stand-in for Go: what is done when it succeeds, fails, or is interrupted."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from rehearsal.tools import build as build_module
from rehearsal.tools import recipes as recipe_module
from rehearsal.tools.recipes import Recipe

GO = """#!/bin/sh
here=$(dirname "$0")
echo "$1" >> "$here/calls"
case "$1" in
list) echo one; echo two ;;
build)
    [ -e "$here/slow" ] && { echo started; exec sleep 60; }
    [ -e "$here/broken" ] && { echo "one.go:1: undefined: heavy" >&2; exit 1; }
    while [ "$1" != -o ]; do shift; done
    echo program > "$2" ;;
esac
"""


class Workshop:
    """A checkout with two programs to build, and its stand-in for Go."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.go = folder / "go"
        self.go.write_text(GO)
        self.go.chmod(0o755)
        (folder / "sources" / "module").mkdir(parents=True)
        (folder / "sources" / "module" / "go.mod").write_text("module example\n")
        self.recipes = (self._recipe("kubernetes"), self._recipe(build_module.BACKGROUND))

    def _recipe(self, name: str) -> Recipe:
        program = self.folder / "bin" / name
        return Recipe(
            name=name,
            module="module",
            package=".",
            install=lambda built, source: recipe_module._place(built, program),
            outputs=(program,),
        )

    def calls(self, verb: str) -> int:
        return (self.folder / "calls").read_text().split().count(verb)


@pytest.fixture(name="workshop")
def _workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    workshop = Workshop(tmp_path)
    monkeypatch.setattr(recipe_module, "SOURCES", tmp_path / "sources")
    monkeypatch.setattr(recipe_module, "STAMPS", tmp_path / "tools" / "stamps")
    monkeypatch.setattr(build_module, "TOOLS", tmp_path / "tools")
    monkeypatch.setattr(build_module, "WORK", tmp_path / "tools" / "build")
    monkeypatch.setattr(build_module, "LOGS", tmp_path / "tools" / "logs")
    monkeypatch.setattr(build_module, "recipes", lambda: workshop.recipes)
    monkeypatch.setattr(build_module, "find_go", lambda: workshop.go)
    return workshop


def test_everything_is_built_once_with_a_line_per_program_and_the_caches_are_gone(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build_module.main() == 0
    said = capsys.readouterr().out
    assert "kubernetes: built in 0 s" in said
    assert "tools: all built in 0 s" in said
    assert all(recipe.is_built() for recipe in workshop.recipes)
    assert not (workshop.folder / "tools" / "build").exists()
    assert build_module.main() == 0
    assert capsys.readouterr().out == ""
    assert workshop.calls("build") == 2


def test_a_failure_names_the_program_and_the_log_and_shows_its_last_lines(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    (workshop.folder / "broken").touch()
    assert build_module.main() == 1
    said = capsys.readouterr().err
    assert "`go build` ended with exit status 1" in said
    assert "one.go:1: undefined: heavy" in said
    assert str(workshop.folder / "tools" / "logs") in said
    assert not any(recipe.is_built() for recipe in workshop.recipes)


def test_after_a_failure_the_caches_are_still_there_and_the_next_build_goes_on(workshop: Workshop) -> None:
    (workshop.folder / "broken").touch()
    assert build_module.main() == 1
    assert (workshop.folder / "tools" / "build").is_dir()
    (workshop.folder / "broken").unlink()
    assert build_module.main() == 0
    assert all(recipe.is_built() for recipe in workshop.recipes)


def test_an_interrupted_build_ends_its_processes_and_is_not_taken_for_done(workshop: Workshop) -> None:
    (workshop.folder / "slow").touch()
    log = workshop.folder / "tools" / "logs" / "kubernetes.log"

    def interrupt() -> None:
        while not (log.exists() and "started" in log.read_text()):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    begun = time.monotonic()
    threading.Thread(target=interrupt, daemon=True).start()
    assert build_module.main() == 130
    assert time.monotonic() - begun < 30
    assert not any(recipe.is_built() for recipe in workshop.recipes)
