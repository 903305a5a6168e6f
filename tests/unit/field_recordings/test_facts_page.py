"""docs/facts.md points at tables that are there, and names what they hold."""

import re
from pathlib import Path

import pytest
from aks_infiniband.facts.kubernetes import RELEASES
from aks_infiniband.facts.versions import GPU_OPERATOR_CHART, NETWORK_OPERATOR_CHART

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "facts.md").read_text()
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if re.match(r"\| (?!fact |---)", line)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_fact_has_a_value_a_home_and_a_source_or_is_assumed(row: list[str]) -> None:
    _, value, home, source = row
    assert value
    assert source
    for path in re.findall(r"`([^`]+)`", home):
        assert any((folder / path).exists() for folder in (ROOT, ROOT / "components" / "aks_infiniband")), path
    for recording in re.findall(r"[\w-]+\.yaml", source):
        assert (ROOT / "tests" / "field_recordings" / recording).is_file(), recording


@pytest.mark.field_report("R15")
def test_the_page_says_which_releases_of_the_operators_these_are_and_that_they_are_deprecated() -> None:
    (row,) = [row for row in ROWS if row[0] == "versions of charts and images"]
    assert NETWORK_OPERATOR_CHART.version in row[1]
    assert GPU_OPERATOR_CHART.version.removeprefix("v") in row[1]
    assert "deprecated since 26.7" in row[3]


def test_the_calendar_on_the_page_is_the_tables() -> None:
    (row,) = [row for row in ROWS if row[0].startswith("until when AKS makes")]
    for minor, month in re.findall(r"1\.(\d+): (\w+ \d{4})", row[1]):
        assert RELEASES[1, int(minor)].end.strftime("%B %Y") == month
