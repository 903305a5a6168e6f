"""A command that answers or fails, and what of it reaches a terminal, a pipe or a program."""

import argparse
import json
import re
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any, Final

import pytest
from aks_infiniband_cli import main as door
from aks_infiniband_cli.console import FOUND, Answer, Command, CommandError, uncut

from tests.cases import Case, replaced

_ERRORS: Final[dict[str, Any]] = {
    "CommandError": CommandError,
    "FileNotFoundError": lambda words: FileNotFoundError(2, words, "x"),
    "ModuleNotFoundError": ModuleNotFoundError,
    "EOFError": EOFError,
    "KeyboardInterrupt": KeyboardInterrupt,
}


_ODD: Final = {"{bidi}": "\u202e", "{lone}": "\udcff"}


class _Output(StringIO):
    """A pipe, or a terminal."""

    terminal = False

    def isatty(self) -> bool:
        return self.terminal


def command(answer: Any) -> Command:
    """A command that gives this answer, or raises it."""

    def run(_: argparse.Namespace) -> Any:
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def declare(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--pool", required=True)

    return Command(name="look", help="h", description="d", example="e", declare=declare, run=run, extra="glasses")


def exit_code_of(answer: Any, *flags: str) -> int:
    """The exit code of a command with this answer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(door, "COMMANDS", (command(answer),))
        return door.main(["look", "--pool", "ndh100", *flags])


def outcome_of_answer(case: Case) -> dict[str, Any]:
    """The exit code, the output and the words to standard error of a command that has `said` words and a `document`, or
    raises an `error` with words. `program`: one reads it, and the document is that which it reads; `terminal`: the
    output is one, whose colours are left out. {bidi} and {lone} stand for characters that no YAML should have.
    """
    for name, character in _ODD.items():
        case = replaced(case, name, character)
    answer: Any = Answer(
        document=case.get("document", {}), lines=[uncut((case.get("said", ""), "bold red"), " ndh100")], exit_code=FOUND
    )
    for name, words in case.get("error", {}).items():
        answer = _ERRORS[name](*words)
    out, err = _Output(), StringIO()
    out.terminal = case.get("terminal", False)
    with redirect_stdout(out), redirect_stderr(err), pytest.MonkeyPatch.context() as patch:
        patch.setenv("TERM", "xterm")
        patch.setenv("COLUMNS", "200")
        code = exit_code_of(answer, *(["--output", "json"] if case.get("program") else []))
    text = re.sub("\x1b\\[[0-9;]*m", "", out.getvalue())
    assert text.replace("\n", "").isprintable()
    shown = {"out": json.loads(text) if case.get("program") and text else text, "err": err.getvalue()}
    for name, character in _ODD.items():
        shown = replaced(shown, character, name)
    return {"code": code, "colours": text != out.getvalue(), **{key: value for key, value in shown.items() if value}}
