"""Every command in the project's documents and messages for people, as words."""

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = (
    *(page for page in ROOT.glob("*.md") if page.name != "CHANGELOG.md"),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("examples/*/README.md"),
)
SAID: Final = ("command_line/aks_infiniband_cli", "components/aks_infiniband", "rehearsal")
"""The folders whose strings people read."""
_PROGRAM: Final = (
    r"(?:(?:make|kubectl|pulumi|aks-infiniband|python3?|\.venv/bin/python) -?-?[a-z]|rehearsal (?:up|down|tools)\b)"
)
_QUOTED: Final = re.compile(rf"`({_PROGRAM}[^`\n]*)`")
_FENCE: Final = re.compile(r"^ *```(sh|console)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_BETWEEN: Final = {"|", "&&", ";", "||", "&", ">", "<", ")", "("}
_SAID_OTHERWISE: Final = "x"
"""The replacement of a name in a message."""


@dataclass(frozen=True)
class Told:
    """A command of one program. copied: whether it stands by itself, for people to copy it as it is."""

    words: tuple[str, ...]
    where: str
    copied: bool


def of_pages() -> Iterator[Told]:
    """Commands of the documents: fenced blocks, and quoted commands in their text."""
    for page in PAGES:
        text, where = page.read_text(encoding="utf-8"), str(page.relative_to(ROOT))
        for kind, block in _FENCE.findall(text):
            for line in block.replace("\\\n", " ").splitlines():
                if kind == "sh" or line.startswith("$ "):
                    yield from _split(line.removeprefix("$ "), where, copied=True)
        for quoted in _QUOTED.findall(re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)):
            yield from _split(quoted, where, copied=False)


def of_messages() -> Iterator[Told]:
    """Commands of the program's strings: those that they quote, and strings that are a command."""
    for folder in SAID:
        for module in (ROOT / folder).rglob("*.py"):
            tree, where = ast.parse(module.read_text(encoding="utf-8")), str(module.relative_to(ROOT))
            passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
            passed |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
            for node in ast.walk(tree):
                if id(node) not in passed and (text := _text(node)):
                    for quoted in _QUOTED.findall(text):
                        yield from _split(quoted, where, copied=True)
                    if re.match(_PROGRAM, text):
                        yield from _split(text, where, copied=True)


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        parts = (value.value if isinstance(value, ast.Constant) else _SAID_OTHERWISE for value in node.values)
        return "".join(map(str, parts))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _split(line: str, where: str, *, copied: bool) -> Iterator[Told]:
    """The commands of a line of a shell."""
    words = _words(line)
    command: list[str] = []
    for word in [*words, ";"]:
        if word not in _BETWEEN:
            command.append(word)
            continue
        if command and re.match(_PROGRAM, " ".join(command)):
            yield Told(words=tuple(command), where=where, copied=copied)
        command = []


def _words(line: str) -> list[str]:
    """As a shell reads a line, operators as separate words."""
    reader = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
    reader.whitespace_split = True
    try:
        return list(reader)
    except ValueError:  # a quotation mark that a message closes elsewhere
        return line.split()
