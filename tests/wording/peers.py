"""Counts of each habit in the docs of other projects. Their average is the aim of the ceilings.

`python -m tests.wording --measure FOLDER` counts a folder of Markdown with the same code, and prints an entry.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import yaml

from tests.wording.habits import HABITS, habits_in, whole_sentences
from tests.wording.markdown import texts_of_page

FILE: Final = Path(__file__).with_name("peers.yaml")


@dataclass(frozen=True)
class Peer:
    """The docs of another project: its number of sentences, and the number of each habit in them."""

    name: str
    sentences: int
    habits: Mapping[str, int]

    def rate(self, habit: str) -> float:
        """The habit in 1,000 sentences."""
        return 1000 * self.habits.get(habit, 0) / self.sentences


def peers(file: Path = FILE) -> list[Peer]:
    """The projects of the data file."""
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    return [Peer(name=each["name"], sentences=each["sentences"], habits=each["habits"]) for each in content]


def average(of: Sequence[Peer], habit: str) -> float:
    """The projects' average of a habit in 1,000 sentences. Each project weighs the same."""
    return fmean(peer.rate(habit) for peer in of)


def measured(folder: Path) -> dict[str, Any]:
    """The sentences of a folder of Markdown, and each habit that they have."""
    texts = [
        text
        for page in sorted(folder.rglob("*.md"))
        for text in texts_of_page(page.name, page.read_text(encoding="utf-8"), separators=False)
    ]
    found = [sentence for _, sentence in whole_sentences(texts)]
    counts = Counter(habit for sentence in found for habit in habits_in(sentence))
    return {"sentences": len(found), "habits": {habit: counts[habit] for habit in HABITS if counts[habit]}}
