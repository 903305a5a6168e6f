"""docs/languages.md tells of the provider and of its examples as they are."""

import json
import re

import yaml
from aks_infiniband.provider.host import Provider

from rehearsal.tools.paths import PROJECT
from tests.snippets import DOCS, snippets

PAGE = (DOCS / "languages.md").read_text()
EXAMPLES = PROJECT / "provider" / "examples"


def test_the_page_lists_every_component() -> None:
    table = PAGE.partition("## What there is")[2].partition("The others")[0]
    tokens = json.loads(Provider().schema or "")["resources"]
    assert set(re.findall(r"`([A-Z]\w+)`", table)) == {token.rpartition(":")[2] for token in tokens}


def test_the_pages_program_is_the_example() -> None:
    (program,) = snippets("languages.md", "yaml")
    assert yaml.safe_load(program) == yaml.safe_load((EXAMPLES / "yaml" / "Pulumi.yaml").read_text())


def test_the_page_names_every_example() -> None:
    assert set(re.findall(r"`provider/examples/([\w-]+)`", PAGE)) == {path.name for path in EXAMPLES.iterdir()}
