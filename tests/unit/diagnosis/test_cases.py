"""The words on a wait that failed: the cases in tests/unit/diagnosis/cases."""

from pathlib import Path

import pytest

from tests.cases import GIVES, Case
from tests.unit.diagnosis.cases import CASES

RULES = CASES.by_rule()


@pytest.mark.parametrize("cases", RULES.values(), ids=RULES)
def test_a_cluster_leads_to_these_words(cases: list[tuple[Path, Case]]) -> None:
    assert cases
    for file, case in cases:
        assert CASES.outcome(file, case) == case[GIVES], case
