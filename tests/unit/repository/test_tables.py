"""Tables of pages: a renderer drops cells that a row has too many, and says nothing."""

import re

from rehearsal.tools.paths import PROJECT

PAGES = [
    *PROJECT.glob("*.md"),
    *(page for part in ("docs", "examples", "tests") for page in PROJECT.glob(f"{part}/**/*.md")),
]
CODE = re.compile(r"`[^`]*`|\\\|")
"""A bar in code, or behind a backslash, separates no cells."""


def uneven(text: str) -> list[str]:
    """The rows that have another number of cells than the first row of their table."""
    found, width, fenced = [], 0, False
    for line in text.splitlines():
        row = line.strip()
        if row.startswith("```"):
            fenced = not fenced
        if fenced or not row.startswith("|"):
            width = 0
            continue
        bars = CODE.sub("", row).count("|")
        width = width or bars
        if bars != width:
            found.append(row)
    return found


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    assert {page.name: rows for page in PAGES if (rows := uneven(page.read_text(encoding="utf-8")))} == {}


def test_a_cell_too_many_is_found_and_a_bar_in_code_is_none() -> None:
    table = "| a | b |\n|---|---|\n| `x | y` | c |\n| d | e | f |\n"
    assert uneven(table) == ["| d | e | f |"]
