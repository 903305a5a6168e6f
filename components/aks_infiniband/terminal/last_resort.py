"""The words for an unforeseen error: a sentence for the terminal, the traceback in a file."""

import os
import sys
import tempfile
import traceback

from aks_infiniband.terminal.text import one_line

_MOST_CHARACTERS = 300


def unforeseen(error: BaseException) -> str:
    """One sentence about an unforeseen error; it names the file that has the traceback.

    Readable for its owner only: an error's text may quote what was read.
    """
    told = one_line(f"{type(error).__name__}: {error}".rstrip(": "))
    if len(told) > _MOST_CHARACTERS:
        told = f"{told[:_MOST_CHARACTERS]}…"
    return f"this error is a defect of aks-infiniband: {told}; {_kept(error)}"


def _kept(error: BaseException) -> str:
    text = "".join(traceback.format_exception(error))
    try:
        handle, path = tempfile.mkstemp(prefix="aks-infiniband-", suffix=".log")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"Python {sys.version}\n{sys.argv}\n{text}")
    except OSError as unwritable:
        return f"please report it; no log could be written ({unwritable.strerror}), and it happened at {_place(error)}"
    return f"please report it with the log {path}"


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return " > ".join(f"{frame.filename}:{frame.lineno}" for frame in frames[-3:]) or "an unknown place"
