"""Facts of the world point at tables that are there, and say which of them are assumed."""

import re
from pathlib import Path

import pytest
from aks_infiniband.facts.kubernetes import RELEASES
from aks_infiniband.facts.releases import GPU_OPERATOR_CHART, NETWORK_OPERATOR_CHART

from tests.records import record

ROOT = Path(__file__).parents[3]
ASSUMPTIONS = (ROOT / "docs" / "rehearsal.md").read_text(encoding="utf-8").partition("## What it assumes")[2]
FACTS = {row["fact"]: row for rows in record("facts").values() for row in rows}


def test_a_fact_has_a_value_a_home_and_a_source() -> None:
    homes = (ROOT, ROOT / "components" / "aks_infiniband")
    assert len(FACTS) > 150
    for fact, row in FACTS.items():
        assert row["value"], fact
        assert row["source"], fact
        for path in row["home"]:
            assert any((folder / path).exists() for folder in homes), (fact, path)
        for recording in re.findall(r"[\w-]+\.yaml", row["source"].partition("recorded: ")[2]):
            assert (ROOT / "tests" / "field_recordings" / recording).is_file(), (fact, recording)


@pytest.mark.field_report("R15")
def test_the_record_says_which_releases_of_the_operators_these_are_and_that_they_are_deprecated() -> None:
    row = FACTS["versions of charts and images"]
    assert NETWORK_OPERATOR_CHART.version in row["value"]
    assert GPU_OPERATOR_CHART.version.removeprefix("v") in row["value"]
    assert "deprecated since 26.7" in row["source"]


def test_the_recorded_calendar_is_the_tables() -> None:
    row = FACTS["until when AKS makes clusters of a Kubernetes version"]
    ends = re.findall(r"1\.(\d+): (\w+ \d{4})", row["value"])
    assert ends
    for minor, month in ends:
        assert RELEASES[1, int(minor)].end.strftime("%B %Y") == month


def test_what_is_assumed_stands_in_the_rehearsals_list_of_assumptions() -> None:
    assumed = {fact for fact, row in FACTS.items() if "assumed" in f"{row['value']} {row['source']}"}
    listed = {fact: row["assumption"] for fact, row in FACTS.items() if "assumption" in row}
    assert assumed == set(listed)
    assert [words for words in listed.values() if words not in " ".join(ASSUMPTIONS.split())] == []
