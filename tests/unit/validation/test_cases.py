"""The checks that facts lead to, and what is read of texts: the cases in tests/unit/validation/cases."""

from pathlib import Path

import pytest

from tests.cases import GIVES, Case
from tests.unit.validation.cases import CASES

RULES = CASES.by_rule()


@pytest.mark.parametrize("cases", RULES.values(), ids=RULES)
def test_facts_and_texts_lead_to_this_outcome(cases: list[tuple[Path, Case]]) -> None:
    assert cases
    for file, case in cases:
        assert CASES.outcome(file, case) == case[GIVES], case
