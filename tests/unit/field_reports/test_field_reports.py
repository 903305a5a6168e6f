"""Every row of the field reports is answered, and a test shows what is said to be prevented."""

from tests.conformance.facts import facts
from tests.field_reports import DONE, marked, rows
from tests.records import record


def test_every_row_of_the_field_reports_is_answered_once() -> None:
    asked = facts("field-reports.md")["rows"]
    assert len(asked) > 60
    assert {name for name in rows() if not name.startswith("R")} == set(asked)
    assert len(rows()) == sum(len(section) for section in record("field-reports").values())


def test_an_answer_is_one_of_four_and_one_that_is_done_has_a_test_that_carries_the_row() -> None:
    assert {row["here"] for row in rows().values()} <= {*DONE, "not prevented"}
    assert [name for name, row in rows().items() if row["here"] in DONE and not marked().get(name)] == []


def test_what_is_not_prevented_says_why() -> None:
    assert [name for name, row in rows().items() if row["here"] not in DONE and len(row["how"]) < 60] == []


def test_no_test_carries_a_row_that_there_is_not() -> None:
    assert set(marked()) - set(rows()) == set()
