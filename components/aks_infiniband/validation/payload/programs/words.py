"""The words of programs on GPUs and HCAs, with their causes: the catalogue's part for pods.

`make docs` writes `words.json` in this folder from `facts/words`, because pods cannot read YAML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypedDict


class Entry(TypedDict):
    """words: a regular expression. part: see collective/failures.py."""

    words: str
    cause: str
    part: str


class _Table(TypedDict):
    dropped: str
    ranks: list[Entry]
    statuses: dict[str, Entry]
    tools: list[Entry]


_TABLE: _Table = json.loads((Path(__file__).parent / "words.json").read_text(encoding="utf-8"))
UNANSWERED: str = _TABLE["dropped"]
"""The cause if connections between pods are never answered."""
RANKS: Sequence[Entry] = _TABLE["ranks"]
TOOLS: Sequence[Entry] = _TABLE["tools"]
STATUSES: Mapping[int, Entry] = {int(number): entry for number, entry in _TABLE["statuses"].items()}
"""By their number, those statuses of completions that say whose fault it is (ibv_wc_status)."""
RETRY_EXCEEDED = 12
"""IBV_WC_RETRY_EXC_ERR: nothing came back from the peer."""


_PATTERNS = {
    entry["words"]: re.compile(entry["words"], re.IGNORECASE) for entry in (*RANKS, *TOOLS, *STATUSES.values())
}


def found_in(text: str, entries: Sequence[Entry], *, part: str = "cause") -> Entry | None:
    """The first entry of a part that matches a text."""
    return next((each for each in entries if each["part"] == part and _has(text, each)), None)


def statuses_in(text: str) -> Iterator[tuple[str, Entry]]:
    """The lines with the status of a completion that failed, in their order, each with the entry of the status."""
    for line in text.splitlines():
        for entry in STATUSES.values():
            if _has(line, entry):
                yield line, entry
                break


def _has(text: str, entry: Entry) -> bool:
    return _PATTERNS[entry["words"]].search(text) is not None
