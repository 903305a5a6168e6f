"""Waiting for a cluster to become what a test expects of it."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from rehearsal.azure.clock import Clock


def _nothing() -> None:
    return None


def eventually(question: Callable[[], Any], *, seconds: float = 120, check: Callable[[], object] = _nothing) -> Any:
    """The first true answer to a question.

    seconds: real ones, after which the test fails. check: raises if further waiting is useless.
    """
    end = time.monotonic() + seconds
    while not (answer := question()):
        check()
        assert time.monotonic() < end, f"not within {seconds:g} s: {question}; the last answer is {answer!r}"
        time.sleep(0.1)
    assert not isinstance(answer, Iterator), f"{question} is true at once: an iterator is, whatever it yields"
    return answer


@contextmanager
def standing_still(clock: Clock) -> Iterator[None]:
    """A request that a simulated Azure has accepted stays under way until the block ends, and takes its time from then
    on.
    """
    goes_on, pause = threading.Event(), clock.pause

    def wait(seconds: float) -> None:
        goes_on.wait()
        pause(seconds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "pause", wait)
        try:
            yield
        finally:
            goes_on.set()
