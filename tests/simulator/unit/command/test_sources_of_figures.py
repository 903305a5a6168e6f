"""The rehearsal's tables of times and sizes name the source and the date of every figure."""

import re
from pathlib import Path

import pytest
import yaml

TABLES = Path(__file__).parents[4] / "rehearsal/run"
ROW = re.compile(r"\s*(?P<key>[\w./-]+):\s*(?P<figure>[\d.]+)\s*(?P<comment>#.*)?$")
SAID = re.compile(r"\b20\d\d-\d\d\b|assumed")


def sources(table: str) -> dict[str, str]:
    """The words on every row that is a number: the comment behind it, and the lines of comment above it."""
    found: dict[str, str] = {}
    above = ""
    for line in (TABLES / table).read_text().splitlines():
        if row := ROW.match(line):
            found[row["key"]] = f"{above} {row['comment'] or ''}"
        above = f"{above} {line}" if line.lstrip().startswith("#") else ""
    return found


def figures(table: object) -> set[str]:
    if not isinstance(table, dict):
        return set()
    own = {str(key) for key, value in table.items() if isinstance(value, int | float)}
    return own.union(*(figures(value) for value in table.values()))


@pytest.mark.parametrize("table", ["latency.yaml", "images.yaml"])
def test_every_figure_has_a_source_with_a_date_or_says_that_it_is_assumed(table: str) -> None:
    said = sources(table)
    assert said.keys() == figures(yaml.safe_load((TABLES / table).read_text()))
    assert not [row for row, comment in said.items() if not SAID.search(comment)]
