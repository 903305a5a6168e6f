"""The mistakes for which a stack file is refused, with the words: tests/unit/settings/cases."""

from typing import Any

import pytest

from tests.unit.settings.cases import refused, subjects

RULES = {f"{file.stem}: {name}": rule for file, subject in subjects() for name, rule in subject.items()}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_stack_file_is_refused_with_these_words_or_taken(rule: dict[str, Any]) -> None:
    for case in rule["cases"]:
        found = refused(case)
        assert found == case.get("refused", {}), case
        assert "s3cret" not in str(found)
