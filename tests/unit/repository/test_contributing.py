"""The contributors' pages, SECURITY.md and README.md speak of files and verbs that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LIBRARY = ROOT / "components/aks_infiniband"
FOLDERS = ("command_line", "components", "docs", "examples", "rehearsal", "tests", "values")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "rehearsal/CONTRIBUTING.md", "SECURITY.md", "README.md"])
def test_every_path_on_the_page_is_there(page: str) -> None:
    paths = set(re.findall(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]*)`", (ROOT / page).read_text()))

    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "rehearsal/CONTRIBUTING.md", "README.md"])
def test_every_verb_on_the_page_is_one_of_the_makefile(page: str) -> None:
    verbs = set(re.findall(r"`make ([a-z-]+)", (ROOT / page).read_text()))

    assert verbs
    assert verbs <= set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))


def walks() -> list[list[tuple[str, str]]]:
    """The steps of each walk on the page: a file of the library, and a name in it."""
    section = (ROOT / "CONTRIBUTING.md").read_text().split("## Three walks")[1].split("\n## ")[0]
    tables = re.split(r"\n\n(?!\|)", section)
    steps = [re.findall(r"^\| `([\w/]+\.py)` \| `(\w+)` \|", table, flags=re.MULTILINE) for table in tables]
    return [found for found in steps if found]


def test_each_step_of_a_walk_is_where_the_page_says() -> None:
    for step in [step for walk in walks() for step in walk]:
        file, name = step

        assert re.search(rf"^(?:async )?(?:def|class) {name}\b", (LIBRARY / file).read_text(), flags=re.MULTILINE)


def test_a_setting_and_a_figure_walk_through_few_files() -> None:
    setting, property_, figure = walks()

    assert (len(setting), len(property_), len(figure)) == (5, 2, 10)
