"""The tables and the plot of docs/measurements.md about deployments, and the file of what was timed."""

import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import yaml
from aks_infiniband_cli.report.timeline import clock
from matplotlib.figure import Figure

from benchmark.makespan.bound import lower_bound
from benchmark.makespan.deployments import Case, cases
from benchmark.makespan.validation import table
from rehearsal.tools.paths import PROJECT

DOCUMENT: Final = PROJECT / "docs" / "measurements.md"
TIMED: Final = PROJECT / "benchmark" / "results" / "timed.yaml"
PLOT: Final = PROJECT / "docs" / "benchmark.png"
_LEAST: Final = """\
| stack | deployment | this program | the guides' order | guides ÷ this program |
|---|---|---|---|---|"""
_PARTS: Final = ("simulated_s", "measuring_s", "engine_s")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One stack, first in its subscription or later; seconds."""

    stack: str
    ours: float
    guides: float


def least() -> Iterator[Row]:
    """The least duration of each deployment, ours and in the guides' order."""
    for case, guides in _pairs():
        yield Row(stack=_name(case), ours=_least(case), guides=_least(guides))


def _pairs() -> Iterator[tuple[Case, Case]]:
    ours = (case for case in cases() if not case.guides)
    return ((case, replace(case, guides=True, inbox=False, peermem=False)) for case in ours)


def _name(case: Case) -> str:
    variant = f"{', nvidia-peermem' if case.peermem else ''}{', inbox' if case.inbox else ''}"
    return f"{case.stack}{variant} | {'first' if case.first else 'later'}"


def _least(case: Case) -> float:
    return max(span.end for span in lower_bound(case))


def with_least(page: str, rows: Sequence[Row]) -> str:
    """The page with the table of what deployments take at least."""
    lines = [[row.stack, clock(row.ours), clock(row.guides), f"{row.guides / row.ours:.2f}"] for row in rows]
    return _put(page, "least", "\n".join([_LEAST, *map(_line, lines)]))


def with_validation(page: str) -> str:
    """The page with the table of what validations take."""
    return _put(page, "validation", table())


def medians(results: Mapping[str, Any]) -> dict[str, Any]:
    """The medians of what was timed, and on which machine."""
    timed = [pair for pair in _pairs() if all(_timings(results, case) for case in pair)]
    return {
        "machine": {key: results[key] for key in ("processor", "threads", "python", "load")},
        "speed": results["speed"],
        "parallel": results["parallel"],
        "repetitions": min(len(_timings(results, case)) for pair in timed for case in pair),
        "deployments": [_timed(results, case, guides) for case, guides in timed],
    }


def _timed(results: Mapping[str, Any], case: Case, guides: Case) -> dict[str, Any]:
    stack, _, deployment = _name(case).partition(" | ")
    ours, theirs = (_median(results, timed, *_PARTS) for timed in (case, guides))
    return {
        "stack": stack,
        "deployment": deployment,
        "seconds": round(ours),
        "over_least": round(ours / _least(case), 2),
        "measuring_percent": round(100 * _median(results, case, "measuring_s") / ours, 1),
        "engine_percent": round(100 * _median(results, case, "engine_s") / ours, 1),
        "guides_seconds": round(theirs),
        "guides_over_least": round(theirs / _least(guides), 2),
    }


def timed_file(results: Mapping[str, Any]) -> str:
    """The file of what was timed."""
    head = """\
# Deployments from nothing, timed by `make bench` on the simulated cloud: medians, in simulated seconds.
# over_least: divided by what docs/measurements.md computes as the least. measuring_percent, engine_percent: the
# validation's and the engine's part. load: the load average of the last 15 minutes; above `threads`, the machine had
# other work, and all deployments took longer than they need. speed: simulated seconds in a real one.
"""
    return head + yaml.safe_dump(medians(results), sort_keys=False, width=120)


def _timings(results: Mapping[str, Any], case: Case) -> list[dict[str, Any]]:
    return [timing for timing in results["timings"] if Case(**timing["case"]) == case]


def _median(results: Mapping[str, Any], case: Case, *parts: str) -> float:
    sums: list[float] = [sum(timing[part] for part in parts) for timing in _timings(results, case)]
    return statistics.median(sums)


def _put(page: str, name: str, text: str) -> str:
    begin, end = f"<!-- {name} -->", f"<!-- end {name} -->"
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n{text}\n{end}", page, flags=re.DOTALL)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def draw(rows: Sequence[Row], path: Path) -> None:
    """Two bars for each row, in minutes."""
    figure = Figure(figsize=(8, 0.55 * len(rows) + 0.8), layout="constrained")
    axes = figure.subplots()
    for index, (kind, label) in enumerate({"guides": "the guides' order", "ours": "this program"}.items()):
        places = [position + 0.4 * index for position in range(len(rows))]
        bars = axes.barh(places, [getattr(row, kind) / 60 for row in rows], height=0.38, label=label)
        axes.bar_label(bars, fmt="%.0f", padding=3)
    axes.set_yticks([position + 0.2 for position in range(len(rows))], [row.stack.replace(" | ", ", ") for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("minutes, computed")
    axes.legend(loc="lower right")
    figure.savefig(path, metadata={"Software": None})
