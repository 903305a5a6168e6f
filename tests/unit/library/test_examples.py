"""The examples as people find them."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from rehearsal.tools.paths import PROJECT

EXAMPLES = sorted(path.parent for path in (PROJECT / "examples").glob("*/Pulumi.yaml"))
TESTS = PROJECT / "tests" / "rehearsal" / "examples"

pytestmark = pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)


def test_an_example_is_a_whole_project(example: Path) -> None:
    assert yaml.safe_load((example / "Pulumi.yaml").read_text())["name"] == example.name
    asked = (example / "requirements.txt").read_text().split()
    if "aks_infiniband" in (example / "__main__.py").read_text().partition('"""\n\n')[2]:
        assert [(example / path).resolve() for path in asked] == [PROJECT / "components"]
    else:
        library = tomllib.loads((PROJECT / "components/pyproject.toml").read_text())["project"]
        assert set(asked) < set(library["dependencies"])


def test_an_example_is_rehearsed_by_a_test_with_the_stack_that_it_has(example: Path) -> None:
    test = (TESTS / f"test_{example.name.replace('-', '_')}.py").read_text()
    stacks = [path.name.split(".")[1] for path in example.glob("Pulumi.*.yaml")]
    assert [f'EXAMPLE, STACK = "{example.name}", "{stack}"' in test for stack in stacks] == [True]


def test_an_examples_page_names_the_command_that_rehearses_it(example: Path) -> None:
    page = (example / "README.md").read_text()
    (stack,) = [path.name.split(".")[1] for path in example.glob("Pulumi.*.yaml")]
    assert f"python -m rehearsal --project examples/{example.name} up {stack}\n" in page
    for linked in re.findall(r"\]\(([^)#]+)\)", page):
        assert (example / linked).exists(), linked
