"""The build, with a stand-in for Go: what is done when it succeeds, fails, is interrupted, or is done twice at once."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from rehearsal.tools import build as build_module
from rehearsal.tools import cache
from rehearsal.tools import recipes as recipe_module
from rehearsal.tools.recipes import Recipe
from tests.rehearsal.waiting import eventually

GO = """#!/bin/sh
here=$(dirname "$0")
echo "$1" >> "$here/calls"
case "$1" in
version) echo go version go1.26.6 linux/amd64 ;;
list) printf '%s\\t%s\\t%s\\n' one /one '' ; printf '%s\\t%s\\t%s\\n' two /two '' ;;
build)
    [ -e "$here/slow" ] && { echo one; exec sleep 60; }
    [ -e "$here/broken" ] && { echo "one.go:1: undefined: heavy" >&2; exit 1; }
    while [ "$1" != -o ]; do shift; done
    echo program > "$2" ;;
esac
"""

HOLDER = """
import fcntl, sys
with open(sys.argv[1], "a") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    print(flush=True)
    input()
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
        self.recipes = (self._recipe("kubernetes"), self._recipe("pulumi"))
        self.tools = folder / "cache" / "key"
        self.draft = folder / "cache" / "key.draft"

    def _recipe(self, name: str) -> Recipe:
        return Recipe(
            name=name,
            module="module",
            package=".",
            install=lambda built, tools, source: recipe_module.place(built, tools / "bin" / name),
            outputs=(f"bin/{name}",),
        )

    def calls(self, verb: str) -> int:
        return (self.folder / "calls").read_text().split().count(verb)


@pytest.fixture(name="workshop")
def _workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    workshop = Workshop(tmp_path)
    monkeypatch.setattr(recipe_module, "SOURCES", tmp_path / "sources")
    monkeypatch.setattr(cache, "folder", lambda: workshop.tools)
    monkeypatch.setattr(build_module, "recipes", lambda: workshop.recipes)
    monkeypatch.setattr(build_module, "find_go", lambda work: workshop.go)
    return workshop


def test_everything_is_built_once_with_a_line_per_program_and_no_word_the_second_time(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build_module.main() == 0
    said = capsys.readouterr().out
    assert "tools: kubernetes built in 0 s" in said
    assert "tools: all built in 0 s" in said
    assert {path.name for path in workshop.tools.iterdir()} == {"bin", cache.MANIFEST}
    assert not workshop.draft.exists()
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
    assert str(workshop.draft / "logs") in said
    assert not workshop.tools.exists()


def test_after_a_failure_the_caches_are_still_there_and_the_next_build_goes_on(workshop: Workshop) -> None:
    (workshop.folder / "broken").touch()
    assert build_module.main() == 1
    assert (workshop.draft / "build").is_dir()
    (workshop.folder / "broken").unlink()
    assert build_module.main() == 0
    assert cache.complete(workshop.tools)


@contextmanager
def a_build_apart() -> Iterator[BaseProcess]:
    """A build in another process: what interrupts it cannot meet the one that runs the tests."""
    build = get_context("fork").Process(target=lambda: sys.exit(build_module.main()))
    build.start()
    try:
        yield build
    finally:
        build.kill()
        build.join()


def _interrupt(build: BaseProcess) -> None:
    assert build.pid
    os.kill(build.pid, signal.SIGINT)
    build.join(timeout=120)
    assert build.exitcode == 130


def test_an_interrupted_build_ends_its_processes_and_is_not_taken_for_done(workshop: Workshop) -> None:
    (workshop.folder / "slow").touch()
    log = workshop.draft / "logs" / "kubernetes.log"
    with a_build_apart() as build:
        eventually(lambda: log.exists() and "one" in log.read_text())
        _interrupt(build)
    assert not workshop.tools.exists()


def test_the_build_says_how_many_minutes_are_left(
    workshop: Workshop, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (workshop.folder / "slow").touch()
    monkeypatch.setattr(build_module, "PROGRESS_EVERY_S", 0.1)
    said = ""

    def says_how_long() -> bool:
        nonlocal said
        said += capfd.readouterr().out
        return re.search(r"tools: kubernetes, 1 of 2 packages; .*left\n", said) is not None

    with a_build_apart() as build:
        eventually(says_how_long)
        _interrupt(build)


def test_a_cache_that_was_changed_is_built_anew(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert build_module.main() == 0
    (workshop.tools / "bin" / "pulumi").write_text("another")
    assert build_module.main() == 0
    assert "is not as it was built; building it again" in capsys.readouterr().out
    assert (workshop.tools / "bin" / "pulumi").read_text() == "program\n"


def test_a_cache_that_others_may_write_to_is_refused_with_what_to_do(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    workshop.tools.parent.mkdir()
    workshop.tools.parent.chmod(0o777)
    assert build_module.main() == 1
    said = capsys.readouterr().err
    assert f"chmod go-w {workshop.tools.parent}" in said
    assert cache.VARIABLE in said
    assert not workshop.draft.exists()


def test_a_checkout_waits_for_another_that_builds_the_same_and_then_has_it(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    workshop.tools.parent.mkdir(mode=0o700)
    lock = workshop.tools.with_suffix(".lock")
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import fcntl,sys;f=open(sys.argv[1],'a');fcntl.flock(f,2);print(flush=True);input()",
            lock,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    holder.stdout.readline()
    waiting = threading.Thread(target=build_module.build, daemon=True)
    waiting.start()
    eventually(lambda: "another build is running; waiting for it" in capsys.readouterr().out)
    (workshop.tools / "bin").mkdir(mode=0o700, parents=True)
    for recipe in workshop.recipes:
        (workshop.tools / recipe.outputs[0]).write_text("theirs")
    workshop.tools.chmod(0o700)
    cache.write_manifest(workshop.tools, go="go")
    holder.communicate(b"\n", timeout=60)
    waiting.join(timeout=60)
    assert not waiting.is_alive()
    assert (workshop.tools / "bin" / "pulumi").read_text() == "theirs"
    assert not (workshop.folder / "calls").exists()
