"""The objects that simulated operators make of a cluster: the cases in tests/simulator/unit/operators/cases."""

from pathlib import Path

import pytest

from tests.cases import GIVES, Case
from tests.simulator.unit.operators.cases import CASES

RULES = CASES.by_rule()


@pytest.mark.parametrize("cases", RULES.values(), ids=RULES)
def test_an_operator_makes_this_of_its_cluster(cases: list[tuple[Path, Case]]) -> None:
    assert cases
    for file, case in cases:
        assert CASES.outcome(file, case) == case[GIVES], case
