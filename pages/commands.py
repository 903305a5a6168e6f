"""The flags of every command, from its parser, between two markers of docs/command-line.md."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from aks_infiniband_cli.main import COMMANDS, command_parser

_PAGE: Final = Path(__file__).parents[1] / "docs" / "command-line.md"
_START: Final = "<!-- flags, written by make docs -->"
_END: Final = "<!-- end of flags -->"
_MOST_CHOICES: Final = 10
_OF_EVERY_COMMAND: Final = {"-h", "--output"}


def command_line_page() -> str:
    """The page, with the flags as they are."""
    above, rest = _PAGE.read_text(encoding="utf-8").split(_START)
    _, below = rest.split(_END)
    return f"{above}{_START}\n{''.join(_sections())}{_END}{below}"


def _sections() -> Iterator[str]:
    [commands] = [each for each in command_parser()._actions if isinstance(each, argparse._SubParsersAction)]
    for command in COMMANDS:
        parser: argparse.ArgumentParser = commands.choices[command.name]
        rows = "".join(_row(each) for each in parser._actions if not _OF_EVERY_COMMAND & {*each.option_strings})
        table = f"| | |\n|---|---|\n{rows}\n" if rows else ""
        yield f"### `{command.name}`\n\n{_cell(parser.description or '')}\n\n```sh\n{command.example}\n```\n\n{table}"


def _row(action: argparse.Action) -> str:
    name = ", ".join(action.option_strings) or str(action.metavar or action.dest)
    value = "" if action.nargs == 0 or not action.option_strings else f" {_value(action)}"
    return f"| `{name}{value}` | {_cell(action.help or '')} |\n"


def _value(action: argparse.Action) -> str:
    if action.choices and len(list(action.choices)) <= _MOST_CHOICES:
        return ",".join(map(str, action.choices))
    metavar = action.metavar or action.dest.upper()
    return metavar if isinstance(metavar, str) else " ".join(metavar)


def _cell(text: str) -> str:
    return " ".join(text.replace("%%", "%").split()).replace("|", "\\|")
