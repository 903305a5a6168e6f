"""Requests to the API server, made again until it answers."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import httpx2
from lightkube.core.exceptions import ApiError

log = logging.getLogger(__name__)

_T = TypeVar("_T")

UNREACHABLE: Final = (httpx2.TransportError, httpx2.StreamError, OSError)
"""The client's errors when the API server cannot be reached."""
FIRST_PAUSE_SECONDS: Final = 0.1
LONGEST_PAUSE_SECONDS: Final = 3.0


async def insist(request: Callable[[], Awaitable[_T]], *, what: str) -> _T | None:
    """Make a request until the API server answers; None when it says that the object is gone or has changed.

    what: names the request in the log. Raises lightkube's ApiError for an answer that another try would not change.
    """
    pause = FIRST_PAUSE_SECONDS
    while True:
        try:
            return await request()
        except ApiError as error:
            if error.status.code in {404, 409}:
                return None
            if error.status.code is not None and error.status.code < 500 and error.status.code != 429:
                raise
            log.warning("%s: %s", what, error)
        except (*UNREACHABLE, httpx2.HTTPStatusError) as error:
            log.warning("%s: %r", what, error)
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
