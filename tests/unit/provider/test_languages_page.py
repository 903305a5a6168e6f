"""docs/languages.md describes the provider and its examples as they are."""

import re

import yaml

from pages.components import with_components
from rehearsal.tools.paths import PROJECT
from tests.snippets import DOCS, snippets
from tests.unit.provider.test_surface import ARGUMENTS_FOR_PYTHON, FOR_PYTHON

PAGE = (DOCS / "languages.md").read_text()
EXAMPLES = PROJECT / "provider" / "examples"


def test_the_page_lists_every_component_with_its_inputs() -> None:
    assert with_components(PAGE) == PAGE


def test_the_page_says_what_is_only_in_python_and_why() -> None:
    table = PAGE.partition("Only in Python:")[2].partition("Every resource")[0]
    told = {*re.findall(r"`(\w+)`", "".join(row.split("|")[1] for row in table.splitlines() if row.startswith("| `")))}
    assert told == FOR_PYTHON | ARGUMENTS_FOR_PYTHON.keys() | set().union(*ARGUMENTS_FOR_PYTHON.values())


def test_the_pages_program_is_the_example() -> None:
    (program,) = snippets("languages.md", "yaml")
    assert yaml.safe_load(program) == yaml.safe_load((EXAMPLES / "yaml" / "Pulumi.yaml").read_text())


def test_the_page_names_every_example() -> None:
    assert set(re.findall(r"`provider/examples/([\w-]+)`", PAGE)) == {path.name for path in EXAMPLES.iterdir()}
