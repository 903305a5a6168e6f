"""The values that the command lines of the rehearsal take for a speed, and for a stack."""

import argparse
import re
from typing import Final

_LEAST, _MOST = 0.01, 100_000.0
_MOST_CLUSTERS: Final = 8
"""Each takes a control plane, of about 1 GB."""
STACK: Final = r"[A-Za-z0-9_.-]{1,100}"
"""As the engine has it."""


def speed(text: str) -> float:
    """Simulated seconds in a real one. Raises ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not _LEAST <= value <= _MOST:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number from {_LEAST:g} to {_MOST:g}; 1 is real time")
    return value


def stack(text: str) -> str:
    """The name of a stack, which is a part of its file's name and the name of its run folder. Raises as above."""
    if not re.fullmatch(STACK, text) or set(text) == {"."}:
        raise argparse.ArgumentTypeError(f"{text!r} must be letters, digits, -, _ and ., at most 100")
    return text


def clusters(text: str) -> int:
    """The number of managed clusters that can exist at a time. Raises as above."""
    if text not in map(str, range(1, _MOST_CLUSTERS + 1)):
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from 1 to {_MOST_CLUSTERS}")
    return int(text)
