"""The texts of Python modules: docstrings, texts of settings, comments, and messages."""

import ast
import io
import re
import tokenize
from collections.abc import Container, Iterator
from typing import Final

from tests.wording.text import Place, Text

_CODE: Final = re.compile(r"`[^`]*`")
_WORD: Final = re.compile(r"[A-Za-z][a-z']+[.,;:?!)]*|a|I")
_FEWEST_WORDS: Final = 4
_DIRECTIVE: Final = re.compile(r"#!|# (?:noqa|type:|mypy:|ruff:|fmt:|pragma)")
_DOCUMENTED: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def texts_of_module(
    file: str, source: str, *, messages: Place | None = None, sections: Container[str] = ()
) -> Iterator[Text]:
    """Every text of a module. `messages`: the place of its strings, if people read them."""
    tree = ast.parse(source)
    documenting: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED):
            for index, statement in enumerate(node.body):
                if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                    documenting.add(id(statement.value))
                    of_setting = isinstance(node, ast.ClassDef) and node.name in sections and index > 0
                    yield from _text(Place.SETTINGS if of_setting else Place.DOCSTRINGS, file, statement.value)
    yield from _comments(file, source)
    if messages:
        documenting |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in documenting and _is_prose(node):
                yield from _text(messages, file, node)


def classes(source: str) -> dict[str, set[str]]:
    """The classes of a module, each with the names of its bases."""
    found = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef))
    return {node.name: {ast.unparse(base).rpartition(".")[2] for base in node.bases} for node in found}


def subclasses(of: str, bases: dict[str, set[str]]) -> set[str]:
    """A class, and every class that descends from it."""
    found = {of}
    while more := {name for name, own in bases.items() if own & found} - found:
        found |= more
    return found


def _text(place: Place, file: str, node: ast.expr) -> Iterator[Text]:
    if words := _CODE.sub("{}", _string(node)):
        yield Text(place=place, file=file, first_line=node.lineno, last_line=node.end_lineno or 0, words=words)


def _string(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_prose(node: ast.expr) -> bool:
    """True if a string is a sentence or part of one. Commands, patterns, paths and scripts are not."""
    string = _string(node)
    parts = string.split()
    words = sum(1 for part in parts if _WORD.fullmatch(part))
    return words >= _FEWEST_WORDS and 2 * words > len(parts) and "\\" not in string and not string.startswith("#!")


def _comments(file: str, source: str) -> Iterator[Text]:
    """Each comment; successive lines of comments are one text."""
    block: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not _DIRECTIVE.match(token.string):
            if block and token.start[0] != block[-1][0] + 1:
                yield _comment(file, block)
                block = []
            block.append((token.start[0], token.string.lstrip("# ")))
    if block:
        yield _comment(file, block)


def _comment(file: str, block: list[tuple[int, str]]) -> Text:
    words = _CODE.sub("{}", " ".join(line for _, line in block))
    return Text(place=Place.COMMENTS, file=file, first_line=block[0][0], last_line=block[-1][0], words=words)
