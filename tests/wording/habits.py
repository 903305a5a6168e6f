"""The habits, as STYLE.md names them, and how to find each in a sentence."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from tests.wording.text import Text

HABITS: Final = {
    "where": re.compile(r"\bwhere\b(?! to\b)", re.IGNORECASE),
    "pronoun first": re.compile(r"^(?:It|They|Them|Those|Theirs)\b"),
    "question word first": re.compile(r"^(?:What|Whether|Who|Whose|Whom|Which|How|Of)\b(?!.*\?$)"),
    "ask": re.compile(r"\bask(?:s|ed|ing)?\b", re.IGNORECASE),
    "nobody": re.compile(r"\b(?:nobody|somebody|anybody|everybody|whoever|whomever)\b", re.IGNORECASE),
    "of its own": re.compile(r"\bof (?:its|their|your|our|one's) own\b|\bof (?:the )?\w+'s(?=[.,;:)]|$| own\b)"),
    "is no": re.compile(r"\b(?:is|are|was|were|has|have|had) no (?!longer\b|more than\b)\w", re.IGNORECASE),
    "mend": re.compile(
        r"\b(?:mend(?:s|ed|ing)?|anew|(?:go|goes|going|went|gone) on|(?:let|lets|letting)(?: (?:it|them))? in)\b",
        re.IGNORECASE,
    ),
    "tell": re.compile(r"\b(?:is|are|was|were|be|been|being) told\b|\btells?\b", re.IGNORECASE),
    "beside": re.compile(r"\bbesides?\b", re.IGNORECASE),
    "four relative words": re.compile(r"(?:\b(?:that|which|what|who|whose|whom|where)\b.*?){4}", re.IGNORECASE),
    "but for": re.compile(r"\bbut for\b|\b(?:every|all|none|nothing|no)(?: \w+){0,3} but\b", re.IGNORECASE),
}
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z`({])")


@dataclass(frozen=True)
class Hit:
    """One habit in one sentence."""

    habit: str
    text: Text
    sentence: str


def sentences(words: str) -> list[str]:
    """The sentences of a text, each on one line."""
    return [" ".join(found.split()) for found in _SENTENCE_END.split(words) if found.strip()]


def whole_sentences(texts: Iterable[Text]) -> Iterator[tuple[Text, str]]:
    """Each sentence of the texts that has at least two words: a rate compares these, and not cells with one figure."""
    for text in texts:
        yield from ((text, sentence) for sentence in sentences(text.words) if " " in sentence)


def habits_in(sentence: str) -> Iterator[str]:
    """Each habit, as often as the sentence has it."""
    for habit, pattern in HABITS.items():
        for _ in pattern.finditer(sentence):
            yield habit


def hits(texts: Iterable[Text]) -> Iterator[Hit]:
    """Every habit in every sentence of the texts."""
    for text in texts:
        for sentence in sentences(text.words):
            for habit in habits_in(sentence):
                yield Hit(habit=habit, text=text, sentence=sentence)
