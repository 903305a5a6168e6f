"""A person's files and a rehearsal's screen: the cases in tests/simulator/unit/command/cases."""

from pathlib import Path

import pytest

from tests.cases import GIVES, Case
from tests.simulator.unit.command.cases import CASES

RULES = CASES.by_rule()


@pytest.mark.parametrize("cases", RULES.values(), ids=RULES)
def test_files_and_events_lead_to_this_outcome(cases: list[tuple[Path, Case]]) -> None:
    assert cases
    for file, case in cases:
        assert CASES.outcome(file, case) == case[GIVES], case
