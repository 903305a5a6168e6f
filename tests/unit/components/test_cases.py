"""Documents and words of pools and options: the cases in tests/unit/components/cases."""

from pathlib import Path

import pytest

from tests.cases import GIVES, Case
from tests.unit.components.cases import CASES

RULES = CASES.by_rule()


@pytest.mark.parametrize("cases", RULES.values(), ids=RULES)
def test_pools_and_options_lead_to_these_documents_and_words(cases: list[tuple[Path, Case]]) -> None:
    assert cases
    for file, case in cases:
        assert CASES.outcome(file, case) == case[GIVES], case
