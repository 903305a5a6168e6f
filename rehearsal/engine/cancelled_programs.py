"""Leaves out the traceback of a program that the engine interrupted after a failure: it says nothing of the failure.

The engine passes on what a program writes to standard error in pieces: whole tracebacks, or line by line.
"""

from dataclasses import dataclass, field
from typing import Final

_FIRST_LINES: Final = ("Traceback (most recent call last):", "Exception ignored in:")


@dataclass
class CancelledPrograms:
    """Takes the pieces of a program's standard error in their order, and gives those that a person needs."""

    _traceback: list[str] = field(default_factory=list)

    def read(self, piece: str) -> list[str]:
        """The text that can be shown now; nothing while a traceback is not complete."""
        if not self._traceback and not piece.startswith(_FIRST_LINES):
            return [piece]
        shown: list[str] = []
        for line in piece.splitlines():
            shown += self._read_line(line)
        return shown

    def rest(self) -> list[str]:
        """The text that is left at the end: a traceback that was cut short."""
        rest, self._traceback = self._traceback, []
        return ["\n".join(rest)] if rest else []

    def _read_line(self, line: str) -> list[str]:
        if line.startswith(_FIRST_LINES) or (self._traceback and (line.startswith(" ") or not line)):
            self._traceback.append(line)
            return []
        if not self._traceback:
            return [line]
        traceback, self._traceback = [*self._traceback, line], []
        return [] if line.rstrip(": ") == "KeyboardInterrupt" else ["\n".join(traceback)]
