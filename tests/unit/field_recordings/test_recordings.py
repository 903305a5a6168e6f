"""Every recording names its subject, its source and its date."""

import datetime
from typing import Any

import pytest

from tests.unit.field_recordings.recordings import recordings


@pytest.mark.parametrize("entry", recordings().values(), ids=recordings())
def test_a_recording_has_a_source_a_date_and_something_to_take_from_it(entry: dict[str, Any]) -> None:
    assert entry["what"]
    assert entry["source"]
    assert isinstance(entry["date"], datetime.date) or entry["date"] == "unknown"
    assert any(key in entry for key in ("excerpt", "figures", "facts"))


@pytest.mark.parametrize("entry", recordings().values(), ids=recordings())
def test_an_excerpt_is_no_longer_than_a_parser_needs(entry: dict[str, Any]) -> None:
    assert len(str(entry.get("excerpt", "")).splitlines()) <= 40
