"""The page that leads to all others."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"
DOOR = (DOCS / "README.md").read_text()


def links(text: str) -> set[str]:
    return set(re.findall(r"\]\(([^)#]+\.md)", text))


OF_THE_SITE = {"api.md"}
"""Made from docstrings when the site is built."""


def test_it_leads_to_every_page() -> None:
    pages = {page.name for page in DOCS.glob("*.md")} - {"README.md"} - OF_THE_SITE
    assert pages - links(DOOR) == set()


def test_each_kind_of_user_has_five_rows() -> None:
    parts = [part for part in DOOR.split("\n## ") if part.startswith("You ")]
    rows = [[line for line in part.splitlines() if line.startswith("| [")] for part in parts]
    assert [len(found) for found in rows] == [5, 5, 5]


def test_terms_stand_in_the_order_of_the_alphabet() -> None:
    terms = re.findall(r"^\| ([^|\[]+) \|", DOOR.split("## Terms")[1], re.MULTILINE)[1:]
    assert len(terms) > 20
    assert terms == sorted(terms, key=str.lower)
