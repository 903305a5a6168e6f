"""Deployments of users: today's programs declare what the recordings say, and lose nothing without saying so.

`make recordings` writes the recordings again; tests/recordings/README.md has more.
"""

import difflib
import tomllib

import pytest

from declared.recording import text
from tests.recordings.identity import identities, lost, unnamed
from tests.recordings.programs import CHANGELOG, PROGRAMS, PROJECT, Program, read

of_every_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)


@of_every_program
def test_a_program_declares_what_is_recorded(program: Program) -> None:
    recorded, declared = program.declared.read_text(), text(program.record())
    diff = difflib.unified_diff(recorded.splitlines(), declared.splitlines(), "recorded", "declared", lineterm="", n=2)
    assert recorded == declared, "\n".join(["`make recordings` writes this down, if it is meant:", *diff])


@of_every_program
def test_the_changelog_names_every_released_resource_that_is_replaced_renamed_or_removed(program: Program) -> None:
    gone = lost(read(program.released), identities(read(program.declared)))
    missing = [f"{resource} {gone[resource]}" for resource in sorted(unnamed(gone, CHANGELOG.read_text()))]
    assert not missing, "CHANGELOG.md does not name under Unreleased:\n" + "\n".join(missing)


@pytest.mark.parametrize("kind", ["declared", "released"])
def test_there_is_no_recording_of_a_program_that_is_gone(kind: str) -> None:
    files = {getattr(program, kind) for program in PROGRAMS}
    assert files == {found for file in files for found in file.parent.iterdir()}


def test_the_changelog_has_the_librarys_version() -> None:
    version = tomllib.loads((PROJECT / "components" / "pyproject.toml").read_text())["project"]["version"]
    assert f"\n## [{version}]" in CHANGELOG.read_text()
