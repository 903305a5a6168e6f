"""A check that the `make` above this process has been interrupted alone.

A terminal's Ctrl-C reaches make and its commands alike. A SIGINT to make alone does not: it waits for its command's
end, and passes nothing on (GNU make, commands.c, fatal_error_signal). The visible sign is that it catches the signal no
longer. A make that a script started in the background never catches it: the shell has it ignore the signal.
"""

import signal
from contextlib import suppress
from pathlib import Path

import psutil

_BIT = 1 << (signal.SIGINT - 1)


def make_above() -> int | None:
    """Process of the make that runs this command, at times by way of a shell; None if there is none."""
    with suppress(psutil.Error):
        for parent in psutil.Process().parents()[:2]:
            if parent.name() in {"make", "gmake"}:
                return int(parent.pid)
    return None


def was_interrupted(make: int) -> bool:
    """True if a make that once ran this command waits for its end after a SIGINT."""
    with suppress(OSError):
        lines = (line.partition(":") for line in Path(f"/proc/{make}/status").read_text().splitlines())
        return not any(int(value, 16) & _BIT for name, _, value in lines if name in {"SigCgt", "SigIgn"})
    return False
