"""The checks that facts lead to: the cases in tests/unit/validation/cases."""

from tests.unit.validation.cases import OUTCOMES, outcome, subjects

RULES = {f"{file.stem}: {name}": (file, rule) for file, rules in subjects() for name, rule in rules.items()}


def test_facts_lead_to_these_checks() -> None:
    for file, rule in RULES.values():
        assert rule["cases"]
        for case in rule["cases"]:
            assert outcome(file, case) == {key: case[key] for key in OUTCOMES if key in case}, case
