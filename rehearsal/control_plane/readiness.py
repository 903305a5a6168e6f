"""A check that a part serves."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass

from rehearsal.control_plane.credentials import LOOPBACK
from rehearsal.control_plane.parts import Runs, ServesHttps, WritesFile

POLL_S = 0.05
ANSWER_LIMIT_S = 5.0


@dataclass(frozen=True)
class Answer:
    """True if a part is ready, and the visible state, in words."""

    ready: bool
    seen: str


async def ask(check: ServesHttps | WritesFile | Runs) -> Answer:
    """Checks once. A part that does not answer, or not in time, is not ready; nothing is raised."""
    if isinstance(check, Runs):
        return Answer(True, "it runs")
    if isinstance(check, WritesFile):
        exists = check.path.exists()
        return Answer(exists, f"{check.path} {'exists' if exists else 'does not exist yet'}")
    try:
        async with asyncio.timeout(ANSWER_LIMIT_S):
            status = await _get(check)
    except (OSError, ssl.SSLError, TimeoutError, ValueError) as error:
        return Answer(False, f"{check.url}: {error or type(error).__name__}")
    return Answer(status == 200, f"{check.url}: HTTP {status}")


async def _get(check: ServesHttps) -> int:
    context = ssl.create_default_context(cafile=check.authority)
    if check.client is not None:
        context.load_cert_chain(check.client.with_suffix(".crt"), check.client.with_suffix(".key"))
    reader, writer = await asyncio.open_connection(LOOPBACK, check.port, ssl=context)
    try:
        request = f"GET {check.path} HTTP/1.1\r\nHost: {LOOPBACK}:{check.port}\r\nConnection: close\r\n\r\n"
        writer.write(request.encode("ascii"))
        await writer.drain()
        status_line = await reader.readline()  # "HTTP/1.1 200 OK"
        return int(status_line.split()[1]) if status_line else 0
    finally:
        writer.close()
