"""The counts, and the texts that exceed a ceiling, as lines for a person."""

from collections.abc import Iterator, Sequence

from tests.wording.ceilings import Counts, counted
from tests.wording.changes import Changes
from tests.wording.habits import HABITS, Hit
from tests.wording.text import Place


def line(hit: Hit) -> str:
    """One hit: its file and line, its habit, and its sentence."""
    return f"  {hit.text.file}:{hit.text.first_line}: {hit.habit}: {hit.sentence}"


def rows(counts: Counts) -> Iterator[str]:
    """The table of counts, a habit a row and a place a column."""
    yield "  ".join(["habit".ljust(19), *(place.value for place in Place)])
    for habit in HABITS:
        yield "  ".join([habit.ljust(19), *(str(counts[place, habit]).rjust(len(place.value)) for place in Place)])


def too_many(hits: Sequence[Hit], ceilings: Counts, changes: Changes) -> list[str]:
    """Each ceiling that is exceeded, and the texts of its kind that are new or changed since the ceilings were."""
    lines: list[str] = []
    for (place, habit), count in counted(hits).items():
        if count > ceilings[place, habit]:
            of_kind = [hit for hit in hits if hit.text.place == place and hit.habit == habit]
            new = [hit for hit in of_kind if changes.touch(hit.text)]
            lines.append(
                f'{place}: "{habit}" stands {count} times, the ceiling is {ceilings[place, habit]}. See STYLE.md.'
            )
            lines += [line(hit) for hit in new or of_kind]
    return lines
