"""The checks that facts lead to: the cases in tests/unit/validation/cases."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit.validation.cases import OUTCOMES, outcome, subjects

RULES = {f"{file.stem}: {name}": (file, rule) for file, rules in subjects() for name, rule in rules.items()}


@pytest.mark.parametrize(("file", "rule"), RULES.values(), ids=RULES)
def test_facts_lead_to_these_checks(file: Path, rule: dict[str, Any]) -> None:
    assert rule["cases"]
    for case in rule["cases"]:
        assert outcome(file, case) == {key: case[key] for key in OUTCOMES if key in case}, case
