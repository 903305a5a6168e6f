"""Pods, Jobs and checks of a pool: the cases in tests/unit/workload/cases."""

from pathlib import Path

import pytest

from tests.cases import GIVES, Case
from tests.unit.workload.cases import CASES

RULES = CASES.by_rule()


@pytest.mark.parametrize("cases", RULES.values(), ids=RULES)
def test_a_pool_leads_to_these_objects_and_words(cases: list[tuple[Path, Case]]) -> None:
    assert cases
    for file, case in cases:
        assert CASES.outcome(file, case) == case[GIVES], case
