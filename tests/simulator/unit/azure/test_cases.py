"""Requests to the simulated Azure: the cases in tests/simulator/unit/azure/cases."""

from pathlib import Path

import pytest

from tests.cases import GIVES, Case
from tests.simulator.unit.azure.cases import CASES

RULES = CASES.by_rule()


@pytest.mark.parametrize("cases", RULES.values(), ids=RULES)
def test_a_request_leads_to_this_answer(cases: list[tuple[Path, Case]]) -> None:
    assert cases
    for file, case in cases:
        assert CASES.outcome(file, case) == case[GIVES], case
