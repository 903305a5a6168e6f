"""Text that others wrote, such as a pod's termination message, with its control characters shown and not sent.

A terminal obeys control characters: they clear the screen, set its title, or hide a line behind another one.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, Self, TypeVar
from unicodedata import category

_LINES = "\n\t"


def printable(text: str) -> str:
    r"""A text of several lines, its control characters shown: \x1b in the place of the escape character.

    The controls of C0 and C1 are shown, except new line and tab, and so are characters that turn the direction of
    writing or have zero width, the other ends of lines, and code points without a character.
    """
    return _shown(text, _LINES, _escaped)


def one_line(text: str) -> str:
    r"""The same if one line is meant: its new lines and tabs are shown too, as \n and \t."""
    return _shown(text, "", _escaped)


def printable_json(text: str) -> str:
    """The same of JSON, which stays what it is: its own escapes stand for what is not printed."""
    return _shown(text, _LINES, _escaped_in_json)


class Piece(Protocol):
    """A piece of the output to a terminal, as rich renders it: text, or commands for rich itself."""

    @property
    def text(self) -> str:
        """The text that is written."""

    @property
    def control(self) -> Any:
        """The commands, if it is not text."""

    def _replace(self, *, text: str) -> Self:
        """The piece with another text."""


_Piece = TypeVar("_Piece", bound=Piece)


def text_only(pieces: Iterable[_Piece]) -> Iterator[_Piece]:
    """The pieces, their text as `printable` has it."""
    for piece in pieces:
        yield piece if piece.control else piece._replace(text=printable(piece.text))


def _shown(text: str, kept: str, escaped: Callable[[str], str]) -> str:
    if text.isprintable():
        return text
    return "".join(char if char in kept or _is_harmless(char) else escaped(char) for char in text)


def _is_harmless(char: str) -> bool:
    return char.isprintable() or category(char) == "Zs"  # spaces of any width


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def _escaped_in_json(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else json.dumps(char)[1:-1]
