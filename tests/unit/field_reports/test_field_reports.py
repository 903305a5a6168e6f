"""Every row of the field reports is answered, and what is said to be prevented has a test that shows it."""

import re
from collections import Counter

from tests.conformance.facts import facts
from tests.field_reports import DONE, PAGE, current, marked, rows

TEXT = PAGE.read_text(encoding="utf-8")


def test_every_row_of_the_field_reports_is_answered_once() -> None:
    asked = facts("field-reports.md")["rows"]
    assert len(asked) > 60
    assert Counter(row.id for row in rows(TEXT) if not row.id.startswith("R")) == Counter(asked)


def test_no_line_of_the_page_that_begins_like_a_row_is_none() -> None:
    begun = re.findall(r"^\| ([A-DR]\d+[a-z]?) ", TEXT, flags=re.MULTILINE)
    assert begun == [row.id for row in rows(TEXT)]


def test_what_is_said_to_be_done_has_a_test_that_carries_the_row() -> None:
    found = marked()
    assert [row.id for row in rows(TEXT) if row.done in DONE and not found.get(row.id)] == []


def test_what_is_not_prevented_says_why() -> None:
    assert [row.id for row in rows(TEXT) if row.done not in DONE and len(row.how) < 60] == []


def test_no_test_carries_a_row_that_there_is_not() -> None:
    assert set(marked()) - {row.id for row in rows(TEXT)} == set()


def test_the_pages_list_of_tests_is_current() -> None:
    assert current(TEXT) == TEXT, "run `python -m tests.field_reports`"
