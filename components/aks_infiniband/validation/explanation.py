"""Words for people about a validation: its checks as a table that fits 80 columns, the worst first, and the reason why
the wait for its Job failed, by the report, the Job and its pods.
"""

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Final

from aks_infiniband.diagnosis.pods import find_job, job_findings
from aks_infiniband.diagnosis.view import (
    Finding,
    Object,
    View,
    Wait,
    container_statuses,
    in_namespace,
    name_of,
    owners_of,
)
from aks_infiniband.validation.payload.report.document import Report, headline
from aks_infiniband.validation.payload.report.kept import EVIDENCE, REPORT_KEY, evidence_of, report_in
from aks_infiniband.validation.payload.say.checks import Check, is_problem
from aks_infiniband.validation.payload.say.lines import Row, rows_of, where
from aks_infiniband.validation.payload.talk.termination import EXIT_VERDICT

_MOST_ROWS: Final = 20


def evidence(pods: Iterable[Object], run: str) -> str | None:
    """The line that the pods of a Job, given by its uid, have left of their report.

    None if no pod has left one. None too if two pods contradict each other: then one of them belongs to another
    program.
    """
    lines = {
        line
        for pod in pods
        if any(owner.get("uid") == run and owner.get("controller") for owner in owners_of(pod))
        for status in container_statuses(pod)
        for line in str(((status.get("state") or {}).get("terminated") or {}).get("message") or "").splitlines()[:1]
        if line.startswith(EVIDENCE)
    }
    return lines.pop() if len(lines) == 1 else None


def explain(wait: Wait, view: View) -> list[Finding]:
    """The findings in the report of this Job, its end, and its pods.

    An earlier Job's report is left out, and so is a report with another digest than the pods have left.
    """
    job = find_job(view, wait)
    uid = str(job["metadata"].get("uid")) if job else ""
    newest = _report_of_run(in_namespace(view.config_maps, wait.namespace), uid)
    left = evidence(view.pods, uid)
    if newest is None or (left and left != evidence_of(newest[1])):
        return job_findings(wait, view)
    # The report contains the words of a pod with a verdict.
    return [*_report_findings(*newest), *job_findings(wait, view, leave_out=_gave_verdict)]


def _report_of_run(config_maps: Sequence[Object], run: str) -> tuple[Object, Report] | None:
    """The ConfigMap with the report of a Job, by the Job's uid, and that report."""
    for config_map in config_maps:
        report = report_in(config_map)
        if report is not None and report.get("run") == run:
            return config_map, report
    return None


def _report_findings(config_map: Object, report: Report) -> list[Finding]:
    """The table of what did not go well, and the next commands."""
    name, namespace = config_map["metadata"]["name"], config_map["metadata"]["namespace"]
    key = REPORT_KEY.replace(".", "\\.")
    return [
        Finding(
            what="\n".join(
                [
                    f"validation of {headline(report)}",
                    f"{passed(report['checks'])}; all are in ConfigMap {name_of(config_map)}, key {REPORT_KEY}",
                    *table(report["checks"], most_rows=_MOST_ROWS),
                ]
            ),
            command=f"kubectl -n {namespace} get configmap {name} -o jsonpath='{{.binaryData.{key}}}' "
            "| base64 -d | gunzip",
        ),
        Finding(
            what="the whole report, as a page with plots, is made from the cluster's kubeconfig",
            command="aks-infiniband report --out report",
        ),
        Finding(
            what="when it is fixed, run `pulumi up` again: the next update measures again",
            command="pulumi up",
        ),
    ]


def _gave_verdict(pod: Object) -> bool:
    statuses = pod.get("status", {}).get("containerStatuses") or []
    ended = [(status.get("state") or {}).get("terminated") or {} for status in statuses]
    return any(state.get("exitCode") == EXIT_VERDICT for state in ended)


_WIDTH: Final = 76
"""Columns of a table: 80, less the indentation that a terminal's caller adds."""
_MOST_LINES: Final = 4
"""Most lines of one cell. A longer cell is cut, and the report has the rest."""
_MOST_NAMES: Final = 3
"""Up to this number of devices or nodes a table names all; of more it names the first, the last and their number."""
_NARROWEST: Final = 10
"""Characters in a column of what was expected or measured."""
_NO_BREAK: Final = "\N{NO-BREAK SPACE}"
_HEAD: Final = ("CHECK", "WHERE", "EXPECTED", "MEASURED")


def table(checks: Sequence[Check], *, most_rows: int | None = None) -> list[str]:
    """The checks that did not go well as a table, each row followed by its cause; rows beyond the most are counted, not
    shown.
    """
    rows = rows_of([_in_short(check) for check in checks if is_problem(check)])
    shown = rows[:most_rows]
    cells = [_HEAD, *(_cells(row) for row in shown)]
    widths = _widths(cells)
    lines = _aligned(_HEAD, widths) if shown else []
    for row, texts in zip(shown, cells[1:], strict=True):
        lines += _aligned(texts, widths)
        cause = row.cause and f"likely cause: {row.cause}"
        lines += textwrap.wrap(cause, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    return [*lines, f"and {len(rows) - len(shown)} rows more"] if len(rows) > len(shown) else lines


def _in_short(check: Check) -> Check:
    """The row without what each of many nodes shows, because that is too much for a cell. The cause says which node
    differs.
    """
    seen = check["measured"]
    return {**check, "measured": f"{len(set(seen.values()))} different"} if isinstance(seen, dict) else check


def passed(checks: Sequence[Check]) -> str:
    """One line for what passed."""
    return f"{sum(check['verdict'] == 'pass' for check in checks)} of {len(checks)} checks passed"


def _cells(row: Row) -> tuple[str, ...]:
    verdict = "" if row.verdict == "fail" else f" ({row.verdict.replace(' ', _NO_BREAK)})"
    return row.check + verdict, where(row.places, _MOST_NAMES) or "the pool", row.expected, row.measured


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """A width for each column, narrowed until a row fits; only the name of a check may break, at a hyphen."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    words = [[word for row in rows for word in row[column].split(" ")] for column in (0, 1)]
    parts = [part for word in words[0] for part in re.findall("[^-]+-?", word)]
    least = [max(map(len, parts)), max(map(len, words[1])), *(min(_NARROWEST, width) for width in widths[2:])]
    while sum(widths) + 2 * (len(widths) - 1) > _WIDTH and widths != least:
        spare = [width - narrow for width, narrow in zip(widths, least, strict=True)]
        widths[spare.index(max(spare))] -= 1
    return widths


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    """The lines of one row."""
    columns = [
        textwrap.wrap(cell, width, max_lines=_MOST_LINES, placeholder=" …", break_on_hyphens=column == 0) or [""]
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    height = max(len(column) for column in columns)
    padded = [[*column, *[""] * (height - len(column))] for column in columns]
    lines = zip(*padded, strict=True)
    whole = ("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) for line in lines)
    return [line.rstrip().replace(_NO_BREAK, " ") for line in whole]
