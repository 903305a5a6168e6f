"""The table and the plot of docs/benchmark.md."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from aks_infiniband_cli.report.timeline import clock
from matplotlib.figure import Figure

from benchmark.makespan.bound import lower_bound
from benchmark.makespan.deployments import Case, cases
from rehearsal.tools.paths import PROJECT

DOCUMENT: Final = PROJECT / "docs" / "benchmark.md"
PLOT: Final = PROJECT / "docs" / "benchmark.png"
_HEAD: Final = """\
| stack | deployment | this program | the guides' order | guides ÷ this program |
|---|---|---|---|---|"""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One stack, first in its subscription or later; seconds."""

    stack: str
    ours: float
    guides: float


def least() -> Iterator[Row]:
    """What each deployment takes at least, ours and in the guides' order."""
    for case, guides in _pairs():
        yield Row(stack=_name(case), ours=_least(case), guides=_least(guides))


def _pairs() -> Iterator[tuple[Case, Case]]:
    return ((case, replace(case, guides=True, inbox=False)) for case in cases() if not case.guides)


def _name(case: Case) -> str:
    return f"{case.stack}{', inbox' if case.inbox else ''} | {'first' if case.first else 'later'}"


def _least(case: Case) -> float:
    return max(span.end for span in lower_bound(case))


def rendered(page: str, rows: Iterable[Row]) -> str:
    """The page with its table made anew."""
    lines = [[row.stack, clock(row.ours), clock(row.guides), f"{row.guides / row.ours:.2f}"] for row in rows]
    table = "\n".join([_HEAD, *map(_line, lines)])
    begin, end = "<!-- least -->", "<!-- end least -->"
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n{table}\n{end}", page, flags=re.DOTALL)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def draw(rows: Sequence[Row], path: Path) -> None:
    """Two bars for each row, in minutes."""
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    axes = figure.subplots()
    for index, (kind, label) in enumerate({"guides": "the guides' order", "ours": "this program"}.items()):
        places = [position + 0.4 * index for position in range(len(rows))]
        axes.bar(places, [getattr(row, kind) / 60 for row in rows], width=0.38, label=label)
    names = [row.stack.replace(" | ", "\n").replace(", ", "\n") for row in rows]
    axes.set_xticks([position + 0.2 for position in range(len(rows))], names)
    axes.set_ylabel("minutes")
    axes.legend()
    figure.savefig(path, metadata={"Software": None})
