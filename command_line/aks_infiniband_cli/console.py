"""A command, its answer, and the way of the answer to a terminal, a pipe or a program."""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn

from aks_infiniband.terminal import one_line, printable, printable_json, text_only
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.segment import Segment
from rich.text import Text

FINE: Final = 0
FOUND: Final = 1
WRONG_USE: Final = 2
UNMEASURED: Final = 3
"""Nothing is known to be wrong, but not all was measured that a pass needs."""
SCHEMA_VERSION: Final = 1
"""The version of every command's document. The version grows when a reader would have to change."""

Output = Literal["text", "json"]


def exit_code_of(verdicts: Iterable[str]) -> int:
    """FOUND if a pool fails or warns, else UNMEASURED if one was not measured between its machines."""
    known = set(verdicts)
    if known <= {"pass"}:
        return FINE
    return UNMEASURED if known <= {"pass", "not measured"} else FOUND


class CommandError(Exception):
    """A command cannot do its work; the text says why and what to do."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The result of a command, as a value: `main` alone prints it, and ends with its exit code.

    document: plain data for `--output json`, with its version before it. lines: for people; a pipe gets them without
    their styles. table: on a terminal in place of the lines; None: the lines. exit_code: FINE, or FOUND if something is
    not as it should be.
    """

    document: Mapping[str, Any]
    lines: Sequence[Text]
    table: RenderableType | None = None
    exit_code: int = FINE

    @property
    def text(self) -> str:
        """The lines for a pipe, without decoration."""
        return "\n".join(line.plain for line in self.lines)


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command of `aks-infiniband`.

    help: one line; description: of its work; example: a command line. declare: adds its flags. run: does it, and raises
    CommandError, OSError or ValueError if it cannot. extra: of this distribution, which it needs; None: none.
    """

    name: str
    help: str
    description: str
    example: str
    declare: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], Answer]
    extra: str | None = None


class _Terminal(Console):
    """A terminal that shows the control characters in what others wrote, and does not obey them."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        return text_only(super().render(renderable, options))


class Parser(argparse.ArgumentParser):
    """A parser that shows arguments as they were given, and never sends them to a terminal."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, and exit with 2."""
        super().error(printable(message))


def stack_name(text: str) -> str:
    """The name of a stack, as a flag gives it."""
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", text):  # as the engine has it
        raise argparse.ArgumentTypeError(f"{text!r}: Pulumi takes letters, digits, -, _ and ., at most 100")
    if text.startswith("-") or not text.strip("._-"):
        raise argparse.ArgumentTypeError(f"{text!r}: must have a letter or digit, and not begin with -, as a flag does")
    return text


def show(answer: Answer, output: Output) -> None:
    """Write an answer to standard output. Whatever others wrote in it is printed as text."""
    if output == "json":
        _write(json_of(answer.document))
    elif sys.stdout.isatty():
        _Terminal(highlight=False).print(answer.table or Group(*answer.lines), crop=False)
    else:
        _write(printable(answer.text))


def json_of(document: Mapping[str, Any]) -> str:
    """A command's document as JSON, with its version before it."""
    versioned = {"schema_version": SCHEMA_VERSION, **document}
    return printable_json(json.dumps(versioned, indent=2, ensure_ascii=False))


def _write(text: str) -> None:
    """To standard output, whatever its encoding."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, errors="backslashreplace").decode(encoding))


def note(text: str) -> None:
    """Write to standard error what is not an answer."""
    print(printable(text), file=sys.stderr, flush=True)


def uncut(*parts: str | tuple[str, str]) -> Text:
    """Text whose lines the terminal wraps itself, so that a command that is copied stays whole.

    parts: text, or text and its style.
    """
    return Text.assemble(*parts, no_wrap=True, overflow="ignore")


def lines_of(*lines: str | tuple[str, str]) -> list[Text]:
    """Lines of an answer, each with its style if it has one; new lines in what others wrote are shown."""
    styled = ((line, "") if isinstance(line, str) else line for line in lines)
    return [uncut((one_line(text), style)) for text, style in styled]


@contextmanager
def at_work(doing: str) -> Iterator[Callable[[str], None]]:
    """Show the current work on a terminal. The output goes to standard error, so that no pipe gets it.

    The function that it yields shows the progress of the work.
    """
    console = _Terminal(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status(Text(one_line(doing))) as status:
        yield lambda text: status.update(Text(one_line(text)))
