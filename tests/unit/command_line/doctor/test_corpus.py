"""The doctor's score on clusters broken in rehearsals: each trouble is reported once, and none after it is repaired."""

import pytest

from tests.doctor_corpus import __main__ as command
from tests.doctor_corpus import store
from tests.doctor_corpus.cases import cases, name_of, scores

RECORDED = list(scores())


@pytest.mark.parametrize("score", RECORDED, ids=lambda score: f"{score.case}{'-mended' * score.mended}")
def test_the_doctor_says_of_a_broken_cluster_what_broke_it_and_nothing_of_a_mended_one(score: object) -> None:
    assert not getattr(score, "wrong", None), score


def test_every_case_is_recorded_and_there_are_enough() -> None:
    for case in cases():
        recorded = store.load(case.stack)
        assert name_of(case, mended=False) in recorded, case.name
        assert (name_of(case, mended=True) in recorded) == case.records_mended, case.name
    assert sum(not score.mended for score in RECORDED) >= 60
    assert sum(score.mended for score in RECORDED) >= 20


def test_the_command_prints_a_line_for_each_and_the_score(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main() == 0
    *lines, broken, mended = capsys.readouterr().out.splitlines()
    assert len(lines) == len(RECORDED)
    for line, wanted in ((broken, False), (mended, True)):
        count = sum(score.mended is wanted for score in RECORDED)
        assert line == f"{'mended' if wanted else 'broken'}: {count} of {count} told as they should be"
