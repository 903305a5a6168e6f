"""Every recording names its subject, its source and its date."""

import datetime

from tests.unit.field_recordings.recordings import recordings


def test_a_recording_has_a_source_a_date_and_something_to_take_from_it() -> None:
    for entry in recordings().values():
        assert entry["what"]
        assert entry["source"]
        assert isinstance(entry["date"], datetime.date) or entry["date"] == "unknown"
        assert any(key in entry for key in ("excerpt", "figures", "facts"))


def test_an_excerpt_is_no_longer_than_a_parser_needs() -> None:
    for entry in recordings().values():
        assert len(str(entry.get("excerpt", "")).splitlines()) <= 40
