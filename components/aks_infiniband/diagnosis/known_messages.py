"""Messages that users have met, as patterns with the likely cause, from the table `known_messages.yaml`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aks_infiniband.facts.tables import table


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """A message that somebody has met."""

    pattern: str
    """Regular expression."""
    cause: str
    """The likely cause."""
    id: str = ""
    """Its name in the doctor's catalogue."""
    fix: str = ""
    """What helps."""
    command: str | None = None
    """The next thing to run."""

    def __str__(self) -> str:
        return f"{self.cause}: {self.fix}" if self.fix else self.cause


def _known(section: str) -> tuple[Known, ...]:
    return tuple(Known(**entry) for entry in _TABLE[section])


_TABLE: Final = table(__package__, "known_messages.yaml")
LOG_LINES: Final = _known("log_lines")
"""Of operators' and drivers' pods, AKS's and ours. In another's log the same words are about something else."""
HARDWARE: Final = _known("hardware")
RUNTIME: Final = _known("runtime")
SANDBOX: Final = _known("sandbox")
CLAIMS: Final = _known("claims")
ADMISSION: Final = _known("admission")
REFUSALS: Final = _known("refusals")
AZURE_LASTING: Final = _known("azure_lasting")
AZURE_PASSING: Final = _known("azure_passing")


def message_in(text: str, messages: Sequence[Known] = LOG_LINES) -> Known | None:
    """The message that a text holds, where it is one that we know."""
    return next((known for known in messages if re.search(known.pattern, text)), None)
