"""Rules of the simulated machines: the cases in tests/simulator/unit/machines/cases."""

from pathlib import Path

import pytest

from tests.cases import GIVES, Case
from tests.simulator.unit.machines.cases import CASES

RULES = CASES.by_rule()


@pytest.mark.parametrize("cases", RULES.values(), ids=RULES)
def test_what_a_machine_and_its_pods_have_leads_to_this_outcome(cases: list[tuple[Path, Case]]) -> None:
    assert cases
    for file, case in cases:
        assert CASES.outcome(file, case) == case[GIVES], case
