"""CONTRIBUTING's tables name every file that something new touches: those that have a row for each that is there."""

import re
from pathlib import Path

from aks_infiniband import SIZES

ROOT = Path(__file__).parents[3]
FOLDERS = ("command_line/aks_infiniband_cli", "components/aks_infiniband", "docs", "rehearsal", "tests")
GENERATED = ("tests/recordings", "tests/rehearsal/upgrade/recorded", "docs/settings.md")
MANY_SIZES, MANY_SERIES = 8, 6
"""A file that names so many has a place for each."""


def section(title: str) -> str:
    """The text of the page under a heading that begins so."""
    [found] = re.findall(
        rf"^### … {title}[^\n]*\n(.*?)(?=^##)", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.DOTALL | re.MULTILINE
    )
    return str(found)


def named(text: str, names: set[str]) -> int:
    """The number of names in a text, each as a separate word; Azure's names of families have more around it."""
    return sum(1 for name in names if re.search(rf"(?<![\w-])(?:standard)?{name}(?:Family)?(?![\w-])", text))


def test_the_table_of_a_machine_size_names_every_file_that_lists_sizes() -> None:
    sizes, series = set(SIZES), {size.series for size in SIZES.values()}
    listing = set()
    for path in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*")):
        name = str(path.relative_to(ROOT))
        written = name.startswith(GENERATED) or path.parent.name == "cases"
        if path.suffix in {".json", ".md", ".py", ".yaml"} and path.is_file() and not written:
            text = path.read_text(encoding="utf-8", errors="replace")
            if named(text, sizes) >= MANY_SIZES or named(text, series) >= MANY_SERIES:
                listing.add(name)
    assert "components/aks_infiniband/facts/catalog/sizes.yaml" in listing
    assert {name for name in listing if name not in section("a machine size")} == set()


def test_the_table_of_a_symptom_names_the_module_that_calls_every_look() -> None:
    doctor = ROOT / "command_line" / "aks_infiniband_cli" / "doctor"
    calling = {str(path.relative_to(ROOT)) for path in doctor.glob("*.py") if "doctor.looks" in path.read_text()}
    assert calling
    assert {name for name in calling if name not in section("a symptom")} == set()
