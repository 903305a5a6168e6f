"""The counts, and the texts that exceed a ceiling, as lines for a person."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tests.wording.ceilings import Counts, counted
from tests.wording.changes import Changes
from tests.wording.habits import HABITS, Hit
from tests.wording.peers import Peer, average
from tests.wording.text import Place


def line(hit: Hit) -> str:
    """One hit: its file and line, its habit, and its sentence."""
    return f"  {hit.text.file}:{hit.text.first_line}: {hit.habit}: {hit.sentence}"


def rows(counts: Counts) -> Iterator[str]:
    """The table of counts, a habit a row and a place a column."""
    yield "  ".join(["habit".ljust(19), *(place.value for place in Place)])
    for habit in HABITS:
        yield "  ".join([habit.ljust(19), *(str(counts[place, habit]).rjust(len(place.value)) for place in Place)])


def rates(counts: Counts, sentences: Counter[Place], peers: Sequence[Peer]) -> Iterator[str]:
    """The table of habits in 1,000 sentences: each place, then each other project and the projects' average."""
    names = [*(place.value for place in Place), *(peer.name for peer in peers), "average"]
    yield "  ".join(["in 1,000 sentences".ljust(19), *names])
    for habit in HABITS:
        figures = [1000 * counts[place, habit] / max(1, sentences[place]) for place in Place]
        figures += [*(peer.rate(habit) for peer in peers), average(peers, habit)]
        cells = (f"{figure:.1f}".rjust(len(name)) for figure, name in zip(figures, names, strict=True))
        yield "  ".join([habit.ljust(19), *cells])


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
