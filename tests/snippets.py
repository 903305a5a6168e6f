"""The fenced blocks of the project's documents, so that tests run what people copy."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def snippets(document: str, language: str) -> list[str]:
    """The blocks of one language in a document of docs/, in their order."""
    return snippets_of((DOCS / document).read_text(encoding="utf-8"), language)


def snippets_of(text: str, language: str) -> list[str]:
    """The blocks of one language in a text, in their order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
