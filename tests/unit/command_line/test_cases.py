"""Decisions and words of commands: the cases in tests/unit/command_line/cases."""

from pathlib import Path

import pytest

from tests.cases import GIVES, Case
from tests.unit.command_line.cases import CASES

RULES = CASES.by_rule()


@pytest.mark.parametrize("cases", RULES.values(), ids=RULES)
def test_what_is_given_leads_to_this_outcome(cases: list[tuple[Path, Case]]) -> None:
    assert cases
    for file, case in cases:
        assert CASES.outcome(file, case) == case[GIVES], case
