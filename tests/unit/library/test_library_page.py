"""docs/library.md tells of the library as it is."""

import re
from typing import Any

from tests.snippets import DOCS, snippets
from tests.unit.library.public import COMPONENTS


def test_the_page_lists_every_component() -> None:
    table = (DOCS / "library.md").read_text().partition("## Resource options")[0]
    assert sorted(re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)) == COMPONENTS


def test_the_pages_program_makes_what_it_says() -> None:
    (program,) = snippets("library.md", "python")
    made: dict[str, Any] = {}
    exec(compile(program, "docs/library.md", "exec"), made)  # the page's own program
    assert made["template"]["spec"]["nodeSelector"] == {"machines": "h100"}
    assert {item["metadata"]["namespace"] for item in made["job"]["items"]} == {"training"}
    assert made["topology"].startswith("<system")
