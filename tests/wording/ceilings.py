"""The most that each place may have of each habit. A ceiling only falls."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import yaml

from tests.wording.habits import HABITS, Hit
from tests.wording.text import Place

FILE: Final = Path(__file__).with_name("ceilings.yaml")
_COMMENT: Final = (
    "# The most that each kind of text may have of each habit of STYLE.md. `make style` lowers the numbers.\n"
)

Counts = Mapping[tuple[Place, str], int]


def counted(hits: Iterable[Hit]) -> Counts:
    """The count of every habit in every place."""
    found = Counter((hit.text.place, hit.habit) for hit in hits)
    return {(place, habit): found[place, habit] for place in Place for habit in HABITS}


def read(file: Path = FILE) -> Counts:
    """The ceilings. A habit without a ceiling has 0."""
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {(place, habit): content.get(place, {}).get(habit, 0) for place in Place for habit in HABITS}


def lowered(ceilings: Counts, counts: Counts) -> Counts:
    """The ceilings, each as low as its count if that is lower."""
    return {key: min(ceiling, counts[key]) for key, ceiling in ceilings.items()}


def write(ceilings: Counts, file: Path = FILE) -> None:
    """Write the ceilings, place by place."""
    content = {place.value: {habit: ceilings[place, habit] for habit in HABITS} for place in Place}
    file.write_text(_COMMENT + yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
