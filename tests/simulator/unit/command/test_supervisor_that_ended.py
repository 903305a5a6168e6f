"""The words on a supervisor that ended by itself: how, and the path of its log if it left any."""

from pathlib import Path

import pytest

from rehearsal.control_plane.client import how_the_supervisor_ended


def test_one_that_was_killed_points_to_no_empty_log(tmp_path: Path) -> None:
    log = tmp_path / "supervisor.log"
    log.touch()
    told = how_the_supervisor_ended(-9, log)
    assert told == (
        "the process that watches over this rehearsal was killed (SIGKILL), by a person or because the memory of this "
        "computer was full: start again"
    )


@pytest.mark.parametrize(("status", "how"), [(-15, "was ended by SIGTERM"), (3, "ended with exit status 3")])
def test_its_last_words_are_named_where_there_are_some(tmp_path: Path, status: int, how: str) -> None:
    log = tmp_path / "supervisor.log"
    assert how_the_supervisor_ended(status, log) == f"the process that watches over this rehearsal {how}: start again"
    log.write_text("Traceback")
    assert how_the_supervisor_ended(status, log).endswith(f"{how}; its last words are in {log}")
