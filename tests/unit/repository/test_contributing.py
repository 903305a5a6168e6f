"""CONTRIBUTING.md, SECURITY.md and README.md speak of files and verbs that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDERS = ("command_line", "components", "docs", "examples", "rehearsal", "tests", "values")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "SECURITY.md", "README.md"])
def test_every_path_on_the_page_is_there(page: str) -> None:
    paths = set(re.findall(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]*)`", (ROOT / page).read_text()))

    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "README.md"])
def test_every_verb_on_the_page_is_one_of_the_makefile(page: str) -> None:
    verbs = set(re.findall(r"`make ([a-z-]+)", (ROOT / page).read_text()))

    assert verbs
    assert verbs <= set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
