"""The mistakes for which a stack file is refused, with the words: tests/unit/settings/cases."""

from tests.unit.settings.cases import refused, subjects

RULES = {f"{file.stem}: {name}": rule for file, subject in subjects() for name, rule in subject.items()}


def test_a_stack_file_is_refused_with_these_words_or_taken() -> None:
    for rule in RULES.values():
        for case in rule["cases"]:
            found = refused(case)
            assert found == case.get("refused", {}), case
            assert "s3cret" not in str(found)
