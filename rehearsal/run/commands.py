"""The commands that a rehearsal prints: each works in whatever folder a shell is."""

import shlex
import sys
from pathlib import Path
from typing import Final

from rehearsal.tools.paths import PROJECT

RUNS: Final = ".rehearsal"
"""Folder next to Pulumi.yaml, ignored by git, with a folder for each stack that was rehearsed."""


def make(target: str, **variables: object) -> str:
    """A target of this checkout's Makefile."""
    return shlex.join(["make", "-C", str(PROJECT), target, *(f"{name}={value}" for name, value in variables.items())])


def module(name: str, *words: object) -> str:
    """A module of the rehearsal, run by the Python that runs now; in a checkout it is found from its folder alone."""
    line = shlex.join([sys.executable, "-m", name, *map(str, words)])
    return f"(cd {shlex.quote(str(PROJECT))} && {line})" if (PROJECT / "Makefile").is_file() else line


def command_line(command: str, *words: object) -> str:
    """A command of `aks-infiniband`, as it is installed next to the Python that runs now."""
    return shlex.join([str(Path(sys.executable).with_name("aks-infiniband")), command, *map(str, words)])


def stop(run: Path) -> str:
    """Ends the processes of a run folder, whatever program it rehearses."""
    project, stack = run.parent.parent, run.name
    if run.parent.name != RUNS:
        return module("rehearsal.control_plane", "down", "--run", run)
    if project == PROJECT:
        return make("rehearse-down", STACK=stack)
    return module("rehearsal", "--project", project, "down", stack)
