"""The end of a rehearsal: the resources that were made, and the knowledge of each pool, its age, and the command that
measures it again.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from rehearsal.engine.events import Step
from rehearsal.faults.file import holding
from rehearsal.outcome.reports import Known, finished
from rehearsal.outcome.tables import VERDICT_STYLE, checks_table, kinds_in, passed_line, steps_table
from rehearsal.outcome.words import ago, several
from rehearsal.run.commands import command_line
from rehearsal.run.folder import RunFolder


@dataclass(frozen=True, kw_only=True)
class Since:
    """Changes of a pool since an earlier update measured it, and the commands for more."""

    failed: bool = False
    """This update failed."""
    changed: int = 0
    """The number of resources that this update has changed."""
    faults: tuple[str, float] = ("", 0)
    """Faults that hold, in words, and the time at which they were set, in seconds since 1970; empty without any."""
    look: str = ""
    """The command that reads the state of the resources from the cluster; empty if this update has read it."""
    measure: str = ""
    """The command that measures again; empty if the cluster does not stay up."""


def since_then(steps: Sequence[Step], run: RunFolder, *, failed: bool, look: str, stays: bool) -> Since:
    """The changes since then, in a run folder. steps: of this update. stays: True if the cluster stays up."""
    return Since(
        failed=failed,
        changed=len([step for step in steps if not step.failed]),
        faults=holding(run.root),
        look=look,
        measure=command_line("validate", "--kubeconfig", run.kubeconfig) if stays else "",
    )


def print_summary(
    console: Console,
    steps: Iterable[Step],
    outputs: Mapping[str, Any],
    known: Known,
    *,
    since: Since,
    left_out: Iterable[str] = (),
    every: bool = False,
) -> None:
    """The resources that were made, the duration of each step, the parts that were not rehearsed, and each pool's
    verdict, its age and its coverage.

    A measurement of an earlier update is reported as such. every: True to list the checks that passed too.
    """
    console.print(steps_table(steps, refreshed=not since.look))
    for sentence in left_out:
        console.print(f"not rehearsed: {sentence}", style="yellow", markup=False, highlight=False)
    for name, pool in outputs.get("pools", {}).items():
        if name in known.before:
            for line in before_lines(name, known.before[name], since):
                console.print(line, style="yellow", markup=False, highlight=False)
        else:
            report = known.measured[name]
            table = checks_table(name, report, width=console.width, every=every)
            if table.row_count and not since.failed:  # a failure is reported at the end, as the program explains it
                console.print(table)
            print_verdict(console, name, pool, report, every=every)


def print_verdict(
    console: Console, name: str, pool: Mapping[str, Any], report: Mapping[str, Any], *, every: bool
) -> None:
    """The verdict of a pool, and how many checks passed."""
    verdict, when = report["verdict"], _when(report)
    console.print(
        f"{name}: [{VERDICT_STYLE[verdict]} bold]{verdict}[/] · {pool['nodeCount']} × {pool['vmSize']} · "
        f"{pool['rdmaResource'] or pool['mode']} · {report['coverage']['summary']}{when and f' · measured {when}'}",
        highlight=False,
    )
    if not every:
        console.print(f"{name}: {passed_line(report)}; -v lists them", highlight=False)


def before_lines(name: str, report: Mapping[str, Any], since: Since) -> Iterator[str]:
    """An earlier update's findings on a pool, the changes since then, and the commands for more."""
    yield (
        f"{name}: nothing was measured by this update. An earlier one says: {report['verdict']}, {_when(report)} "
        f"({report['coverage']['summary']}; {several(kinds_in(report), 'kind')} of check)"
    )
    happened = [
        *(["this update failed"] if since.failed else []),
        *([f"this update changed {several(since.changed, 'resource')}"] if since.changed else []),
        *([f"faults were set: {since.faults[0]}"] if since.faults[1] > finished(report) else []),
    ]
    if happened:
        yield f"  since then: {'; '.join(happened)}"
    if since.look:
        yield f"  to compare the cluster with the program: {since.look}"
    if since.measure:
        yield f"  measure again: {since.measure}"


def _when(report: Mapping[str, Any]) -> str:
    return f"on {report['finished']}, {ago(time.time() - finished(report))}" if report.get("finished") else ""
