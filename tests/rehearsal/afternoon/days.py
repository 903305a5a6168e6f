"""The afternoon's page: what is typed, and each program's files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from tests.snippets import DOCS, snippets_of

Language = Literal["python", "yaml", "nodejs"]
_LABELS: Final[Mapping[Language, str]] = {"python": "Python", "yaml": "YAML", "nodejs": "TypeScript"}
_TABS: Final = re.compile(r"<!-- tabs -->\n(.*?)<!-- end of tabs -->", re.DOTALL)
_TAB: Final = re.compile(r"^\*\*(.+)\*\*$\n", re.MULTILINE)
_FILE: Final = re.compile(r"^`([\w.]+)`[^`]*:\n\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PAGE: Final = (DOCS / "afternoon.md").read_text(encoding="utf-8")


@dataclass(frozen=True, kw_only=True)
class Day:
    """The commands and files of the page. path: the command that puts the wheel's programs on the PATH."""

    install: str
    path: str
    checks: str
    breaks: str
    mends: str
    workload: str
    stop: str
    files: Mapping[str, str]


def _day(label: str) -> Day:
    page = _TABS.sub(lambda tabs: _tab(tabs[1], label), _PAGE)
    install, *checks, breaks, mends, workload, stop = snippets_of(page, "sh")
    commands, path = install.rstrip().rsplit("\n", 1)
    return Day(
        install=commands,
        path=path,
        checks="".join(checks),
        breaks=breaks,
        mends=mends,
        workload=workload,
        stop=stop,
        files=dict(_FILE.findall(page)),
    )


def _tab(tabs: str, label: str) -> str:
    """The text under one bold label; nothing if the label is missing."""
    _, *parts = _TAB.split(tabs)
    return dict(zip(parts[::2], parts[1::2], strict=True)).get(label, "")


DAYS: Final[Mapping[Language, Day]] = {language: _day(label) for language, label in _LABELS.items()}
