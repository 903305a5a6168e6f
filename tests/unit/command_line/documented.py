"""The text of docs/command-line.md on the commands' documents."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).parents[3] / "docs" / "command-line.md"


@cache
def documented() -> Mapping[str, frozenset[str]]:
    """By command, every word in the row of its document that may be a key."""
    rows = re.findall(r"^\| `([a-z]+)` \|(.*)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(dict(rows)) == len(rows), "a command has two rows"
    return {command: frozenset(re.findall(r"`(\w+)`", row)) for command, row in rows}
