"""A text that a person reads: its kind, its file and lines, and its words without code."""

from dataclasses import dataclass
from enum import StrEnum


class Place(StrEnum):
    """A kind of text. Each has its own ceilings."""

    DOCS = "docs"
    DOCS_TABLES = "tables in docs"
    DOCSTRINGS = "docstrings"
    COMMENTS = "comments"
    SETTINGS = "settings"
    SYMPTOMS = "symptoms"
    RECORDS = "records"
    COMMAND_LINE_MESSAGES = "messages of the command line"
    LIBRARY_MESSAGES = "messages of the library"
    REHEARSAL_MESSAGES = "messages of the rehearsal"


@dataclass(frozen=True)
class Text:
    """A text in one place of one file, from its first line to its last."""

    place: Place
    file: str
    first_line: int
    last_line: int
    words: str
