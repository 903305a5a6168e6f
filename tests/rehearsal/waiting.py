"""Waiting for a cluster to become what a test expects of it."""

import time
from collections.abc import Callable
from typing import Any


def _nothing() -> None:
    return None


def eventually(question: Callable[[], Any], *, seconds: float = 120, check: Callable[[], object] = _nothing) -> Any:
    """The first true answer to a question.

    seconds: real ones, after which the test fails. check: raises where waiting on makes no sense.
    """
    end = time.monotonic() + seconds
    while not (answer := question()):
        check()
        assert time.monotonic() < end, f"not within {seconds:g} s: {question}; the last answer is {answer!r}"
        time.sleep(0.1)
    return answer
