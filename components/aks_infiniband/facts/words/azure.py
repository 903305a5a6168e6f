"""Azure's errors: a table of codes, and of words within one sentence if Azure gives no code."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from aks_infiniband.facts.tables import table

Kind = Literal["lasts", "passes", "later", "ours"]
MOST_TRIES: Final = 20
"""Number of retries, if the entry does not say. `diagnosis.azure` has the pauses."""
_SENTENCES: Final = re.compile(r"(?<=[.!?])[\"']*\s+|\\n|\n")
_CODES: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_EXIT: Final = re.compile(r"exit status[= ](\d+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class AzureError:
    """An entry."""

    of: Literal["arm", "aks", "compute", "network", "cse"]
    kind: Kind
    cause: str
    sources: tuple[str, ...]
    codes: frozenset[str] = frozenset()
    """In small letters. Any of them."""
    with_: str = ""
    """Regular expression that one sentence must match in addition to the code."""
    says: str = ""
    """The same, without a code."""
    exit: tuple[int, ...] = ()
    """Exit status of AKS's script on a new machine."""
    tries: int = MOST_TRIES
    command: str = ""
    """The next thing to run."""

    def fits(self, message: "Message") -> bool:
        """Match what Azure answered."""
        coded = self.codes & message.codes and (not self.with_ or message.has(self.with_))
        return bool(coded or (self.says and message.has(self.says)) or set(self.exit) & message.exits)


class Message:
    """An answer of Azure, in its parts."""

    def __init__(self, text: str) -> None:
        self.sentences = [part for part in _SENTENCES.split(text) if part.strip()]
        self.codes = frozenset(code.lower() for code in _CODES.findall(text))
        self.exits = frozenset(int(status) for status in _EXIT.findall(text))

    def has(self, words: str) -> bool:
        """Match a single sentence."""
        return any(re.search(words, sentence, re.IGNORECASE) for sentence in self.sentences)


def _errors() -> tuple[AzureError, ...]:
    return tuple(_entry(row) for row in table(__package__, "azure.yaml")["entries"])


def _entry(row: Mapping[str, Any]) -> AzureError:
    rest = {key: value for key, value in row.items() if key not in ("codes", "with", "exit", "sources")}
    return AzureError(
        codes=frozenset(code.lower() for code in row.get("codes", ())),
        with_=row.get("with", ""),
        exit=tuple(row.get("exit", ())),
        sources=tuple(row["sources"]),
        **rest,
    )


ERRORS: Final = _errors()


def error_in(text: str) -> AzureError | None:
    """The entry for an answer of Azure; None if it is not known."""
    message = Message(text)
    return next((entry for entry in ERRORS if entry.fits(message)), None)
