"""The check of STYLE.md finds each habit in each kind of text, and fails if a count is above its ceiling."""

import subprocess
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.wording import ceilings
from tests.wording.changes import Changes
from tests.wording.everything import ROOT, every_text, texts_of_data
from tests.wording.habits import HABITS, habits_in, hits, sentences, whole_sentences
from tests.wording.markdown import texts_of_page
from tests.wording.peers import Peer, average, measured, peers
from tests.wording.python import classes, subclasses, texts_of_module
from tests.wording.report import rates, too_many
from tests.wording.text import Place, Text

MODULE = '''"""Beside the module."""

class Pool(Section):
    """Beside the class."""

    count: int
    """Beside the setting."""


def fail(node):
    # A comment that goes on
    # over two lines, anew.
    raise ValueError(f"the node {node} has no pod " "where the job runs", "beside", r"where \\s a pattern is found")
'''


def examples() -> list[tuple[str, str, str]]:
    """The rows of the page's table: a habit, a sentence with it, and a sentence without."""
    tokens = MarkdownIt().enable("table").parse((ROOT / "STYLE.md").read_text())
    cells = [token.content for before, token in pairwise(tokens) if before.type == "td_open"]
    return [(cells[at], cells[at + 2], cells[at + 3]) for at in range(0, len(cells), 4)]


def test_the_page_has_an_example_of_each_habit() -> None:
    assert [habit for habit, _, _ in examples()] == list(HABITS)


def test_a_habit_is_found_in_its_bad_example_and_none_in_the_good_one() -> None:
    for habit, before, after in examples():
        assert habit in {found for sentence in sentences(before) for found in habits_in(sentence)}
        assert [found for sentence in sentences(after) for found in habits_in(sentence)] == []


@pytest.mark.parametrize(
    "sentence",
    ["Of which nodes does the job need two?", "The page says where to look.", "The pool is no longer there."],
)
def test_a_sentence_that_looks_like_a_habit_is_not_one(sentence: str) -> None:
    assert list(habits_in(sentence)) == []


def test_each_kind_of_text_of_a_module_is_found_in_its_place() -> None:
    sections = subclasses("Section", classes(MODULE))
    texts = texts_of_module("m.py", MODULE, messages=Place.LIBRARY_MESSAGES, sections=sections)
    found = {(text.place.value, text.first_line, " ".join(text.words.split())) for text in texts}
    assert found == {
        ("docstrings", 1, "Beside the module."),
        ("docstrings", 4, "Beside the class."),
        ("settings", 7, "Beside the setting."),
        ("comments", 11, "A comment that goes on over two lines, anew."),
        ("messages of the library", 13, "the node {} has no pod where the job runs"),
    }


def test_a_page_has_its_paragraphs_and_cells_without_code_headings_and_generated_parts() -> None:
    page = (
        "# Beside\n\nRead `where` it is.\n\n```sh\nbeside\n```\n\n"
        "<!-- x -->\nBeside.\n\nBeside.\n\n<!-- end of x -->\n\n"
        "| beside |\n|---|\n| anew |\n"
    )
    found = [(text.place.value, text.first_line, text.words) for text in texts_of_page("p.md", page)]
    assert found == [("docs", 3, "Read {} it is."), ("tables in docs", 16, "beside"), ("tables in docs", 18, "anew")]


def test_a_page_of_another_project_is_counted_whole(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(
        "---\ntitle: Beside\n---\n\n<!-- a comment -->\n\nIt is beside. Yes.\n\n| one | a cell |\n|---|---|\n"
    )
    found = measured(tmp_path)
    assert found == {"sentences": 2, "habits": {"pronoun first": 1, "beside": 1}}
    peer = Peer(name="p", **found)
    assert (peer.rate("beside"), peer.rate("tell")) == (500, 0)
    assert average([peer, Peer(name="q", sentences=10, habits={})], "beside") == 250


def test_a_rate_is_in_the_table_of_every_place_and_every_peer() -> None:
    key = (Place.DOCSTRINGS, "beside")
    header, *lines = rates({**ceilings.counted([]), key: 1}, Counter({Place.DOCSTRINGS: 8}), peers())
    by_habit = {line[:19].strip(): line[19:].split() for line in lines}
    assert list(by_habit) == list(HABITS)
    assert by_habit["beside"] == ["0.0", "0.0", "125.0", *["0.0"] * 12]
    assert header.endswith("kueue  uv  cluster-toolkit  aicr  average")


def test_a_symptom_is_read_once_however_many_aliases_it_has() -> None:
    source = "symptoms:\n  - &one {id: a, title: Beside, cause: x, sources: [beside]}\n  - *one\n"
    assert {text.words for text in texts_of_data("s.yaml", source, Place.SYMPTOMS)} == {"Beside", "x"}
    assert len(list(texts_of_data("s.yaml", source, Place.SYMPTOMS))) == 2


def repository(folder: Path) -> Path:
    """A repository with one page, whose ceilings are those of its first commit."""
    (folder / "page.md").write_text("It stands beside.\n\nMore.\n")
    (folder / "ceilings.yaml").write_text("{}\n")
    for words in (
        ("init", "--quiet"),
        ("add", "."),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message=a"),
    ):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


def test_a_count_above_its_ceiling_is_reported_with_the_texts_that_changed(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    before = list(hits(texts_of_page("page.md", (folder / "page.md").read_text())))
    most = ceilings.counted(before)
    changes = Changes(folder, since_change_of=folder / "ceilings.yaml")
    assert too_many(before, most, changes) == []

    (folder / "page.md").write_text("It stands beside.\n\nThe node stands beside.\n")
    (folder / "new.md").write_text("Beside.\n")
    texts = [text for name in ("page.md", "new.md") for text in texts_of_page(name, (folder / name).read_text())]
    changes = Changes(folder, since_change_of=folder / "ceilings.yaml")
    assert too_many(list(hits(texts)), most, changes) == [
        'docs: "beside" stands 3 times, the ceiling is 1. See STYLE.md.',
        "  page.md:3: beside: The node stands beside.",
        "  new.md:1: beside: Beside.",
    ]


def test_without_git_every_text_of_the_kind_is_reported(tmp_path: Path) -> None:
    text = Text(place=Place.DOCS, file="page.md", first_line=1, last_line=1, words="Beside.")
    assert Changes(tmp_path / "none", since_change_of=tmp_path / "ceilings.yaml").touch(text)


def test_a_ceiling_falls_to_its_count_and_never_rises(tmp_path: Path) -> None:
    zero = ceilings.counted([])
    key, other = (Place.DOCS, "beside"), (Place.DOCS, "tell")
    after = ceilings.lowered({**zero, key: 5, other: 1}, {**zero, key: 3, other: 7})
    assert (after[key], after[other]) == (3, 1)
    ceilings.write(after, tmp_path / "ceilings.yaml")
    assert ceilings.read(tmp_path / "ceilings.yaml") == after


AS_PLAIN_AS_OTHERS = tuple(place for place in Place if place != Place.REHEARSAL_MESSAGES)
"""Messages of the rehearsal quote Azure."""
BUILT_FROM = {f"rehearsal/tools/{name}.py" for name in ("doors", "left_out", "overlay", "pins", "recipes")}
"""A change of any byte in these builds the engine and the control plane again on every machine, so their texts wait."""


@pytest.fixture(scope="module")
def our_texts() -> list[Text]:
    return [text for text in every_text() if text.file not in BUILT_FROM]


@pytest.mark.parametrize("place", AS_PLAIN_AS_OTHERS)
def test_a_kind_of_text_has_no_habit_more_often_than_the_docs_of_other_projects(
    place: Place, our_texts: list[Text]
) -> None:
    texts = [text for text in our_texts if text.place == place]
    counts, number = ceilings.counted(hits(texts)), len(list(whole_sentences(texts)))
    others = peers()
    above = {
        habit: counts[place, habit] for habit in HABITS if counts[place, habit] > average(others, habit) * number / 1000
    }
    assert above == {}
