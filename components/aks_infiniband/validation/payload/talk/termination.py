"""A pod's report of its end to the Job and the kubelet: its exit code, and its last words."""

from __future__ import annotations

import sys
from pathlib import Path

EXIT_DONE = 0
EXIT_VERDICT = 1
"""The work was done and the answer is no: trying again would give the same answer, so the Job fails at once."""
EXIT_RETRY = 75
"""The work could not be done: the Job starts the pod again, until its deadline (EX_TEMPFAIL of sysexits.h)."""
TERMINATION_MESSAGE_BYTES = 4096
"""The part of a container's termination message that the kubelet keeps (Kubernetes, "Determine the Reason for Pod
Failure").
"""


def shorten(message: str, limit: int = TERMINATION_MESSAGE_BYTES) -> str:
    """The message within ``limit`` bytes of UTF-8, its end dropped with a mark when it was longer."""
    encoded = message.encode()
    if len(encoded) <= limit:
        return message
    mark = " […]"
    return encoded[: limit - len(mark.encode())].decode(errors="ignore") + mark


def finish(code: int, message: str, termination_log: Path) -> int:
    """Print the message, leave it at the kubelet's path, and return ``code``."""
    print(message, flush=True)
    try:
        termination_log.write_text(shorten(message), encoding="utf-8")
    except OSError as error:
        print(f"{termination_log}: {error}", file=sys.stderr, flush=True)
    return code
