"""Looks at a cluster from a running program: one at a time, and none longer than it may take."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

_T = TypeVar("_T")
_ONE_AT_A_TIME: Final = threading.Lock()
"""One look at a time. A program that read three Jobs' results at once ended with SIGSEGV in msgspec 0.22, with which
lightkube reads answers (seen 2026-11-22). The cause is assumed: threads that read a type for the first time, at the
same time.
"""


async def within_limit(look: Callable[[], _T], limit_seconds: float) -> _T | None:
    """The result of a look; None after the limit. The limit includes the time in which others look.

    A separate thread makes the look: those of the event loop's pool may all wait for the engine, and the engine for
    this look.
    """
    seen: list[_T] = []
    loop, over = asyncio.get_running_loop(), asyncio.Event()

    def take_turn() -> None:
        try:
            with _ONE_AT_A_TIME:
                seen.append(look())
        finally:
            with suppress(RuntimeError):  # the program has ended
                loop.call_soon_threadsafe(over.set)

    threading.Thread(target=take_turn, name="look", daemon=True).start()
    with suppress(TimeoutError):
        await asyncio.wait_for(over.wait(), limit_seconds)
    return seen[0] if seen else None
