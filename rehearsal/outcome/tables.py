"""Tables of a rehearsal: what was made, and what the validation of a pool found."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rich import box
from rich.table import Table
from rich.text import Text

from rehearsal.engine.events import Step
from rehearsal.outcome.words import done, kind

VERDICT_STYLE: Final = {
    "fail": "red",
    "not measured": "yellow",
    "warn": "yellow",
    "not judged": "yellow",
    "pass": "green",
}
"""The order of verdicts, the worst first. A check that could not be made may hide a failure."""
_CELL_LINES: Final = 4
"""A longer cell is cut; the report has all of it."""
_NARROWEST: Final = 10
"""Characters in a column of sentences or figures; a column of names is at least as wide as its longest name."""
_GAP: Final = 2
"""Characters between two columns: a blank in the place of a line, and a blank."""

Row = tuple[str, str, str, str, str]
_HEAD: Final[Row] = ("check", "where", "expected", "measured", "verdict")


def steps_table(steps: Iterable[Step], *, refreshed: bool = False) -> Table:
    """Everything that changed, in the order it was finished, and how long each took.

    refreshed: True if the cluster was read first; else only the stack's memory of it is known.
    """
    table = Table(title="Made, changed or removed", title_justify="left", header_style="bold")
    for column in ("kind", "name", "what"):
        table.add_column(column)
    table.add_column("seconds", justify="right")
    rows = list(steps)
    if not rows:
        is_so = "is" if refreshed else "was, when it was last looked at,"
        table.add_row(f"nothing: everything {is_so} as the program says", "", "", "")
    for step in rows:
        table.add_row(
            kind(step.type), step.name, done(step), f"{step.seconds:.1f}", style="red" if step.failed else None
        )
    return table


def checks_table(pool: str, report: Mapping[str, Any], *, width: int, every: bool = False) -> Table:
    """A pool's validation: a row for each check that did not pass, the worst first, then the figures that passed.

    width: of the screen, in characters; every: whether all that passed has rows, one for each check.
    """
    rows = [_row(check) for check in sorted(report["checks"], key=_badness) if check["verdict"] != "pass"]
    rows += _passed_rows(check for check in report["checks"] if every or _is_figure(check))
    table = Table(
        title=f"Validation of {pool}",
        title_justify="left",
        header_style="bold",
        # Without lines between columns, so that 80 characters have room for the name of a node.
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    widths = _widths([_HEAD, *rows], width)
    for column, wide in zip(_HEAD, widths, strict=True):
        table.add_column(column, width=wide)
    for row in rows:
        cells = [_cut(cell, wide, at_hyphens=n == 0) for n, (cell, wide) in enumerate(zip(row, widths, strict=True))]
        table.add_row(*map(Text, cells[:-1]), Text(cells[-1], VERDICT_STYLE[row[-1]]))
    return table


def kinds_in(report: Mapping[str, Any]) -> int:
    """The number of kinds of check in a report, made ones alone."""
    return len({check["check"] for check in report["checks"] if check["verdict"] != "not measured"})


def passed_line(report: Mapping[str, Any]) -> str:
    """The part of a pool's validation that passed, in one line."""
    passed = [check for check in report["checks"] if check["verdict"] == "pass"]
    kinds = len({check["check"] for check in passed})
    places = _places(passed)
    return f"passed: {kinds} kinds of check, {len(passed)} in all{f' ({places})' if places else ''}"


def _badness(check: Mapping[str, Any]) -> int:
    """A check that is left out by design lacks a cause and is not a problem. Such a check comes last of those that did
    not pass.
    """
    by_design = check["verdict"] == "not measured" and not check.get("cause")
    return list(VERDICT_STYLE).index("pass" if by_design else check["verdict"])


def _is_figure(check: Mapping[str, Any]) -> bool:
    """True if it is a main figure of such machines: one with a limit, or the transport that NCCL takes."""
    return bool(check.get("threshold")) or check["check"] == "collective-transport"


def _row(check: Mapping[str, Any]) -> Row:
    return check["check"], _places([check]), _cell(check["expected"]), _measured(check), check["verdict"]


def _measured(check: Mapping[str, Any]) -> str:
    shown, unit = _cell(check["measured"]), check.get("unit")
    return f"{shown} {unit}" if unit and shown != "-" and not shown.endswith(unit) else shown


def _passed_rows(checks: Iterable[Mapping[str, Any]]) -> list[Row]:
    """One row for all checks that have the same expectation."""
    passed: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for check in checks:
        if check["verdict"] == "pass":
            passed.setdefault((check["check"], _cell(check["expected"])), []).append(check)
    return [
        (name, _places(same), expected, ", ".join(sorted({_measured(check) for check in same})), "pass")
        for (name, expected), same in passed.items()
    ]


def _widths(rows: Sequence[Row], width: int) -> list[int]:
    """The width of each column, so that the table fits the screen and no name of a node or device is broken."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    names = (_longest(row[0].replace("-", "- ") for row in rows), _longest(row[1] for row in rows))
    least = [*names, *(min(_NARROWEST, wide) for wide in widths[2:4]), _longest(row[4] for row in rows)]
    while sum(widths) + _GAP * (len(widths) - 1) > width and widths != least:
        spare = [wide - narrow for wide, narrow in zip(widths, least, strict=True)]
        widths[spare.index(max(spare))] -= 1
    return widths


def _longest(texts: Iterable[str]) -> int:
    return max(len(word) for text in texts for word in text.split() or [""])


def _cut(text: str, width: int, *, at_hyphens: bool) -> str:
    """The text in lines. at_hyphens: whether words may break there: a check's name may, a node's may not."""
    lines = textwrap.wrap(text, width, break_on_hyphens=at_hyphens)
    if len(lines) <= _CELL_LINES:
        return "\n".join(lines)
    last = f"{lines[_CELL_LINES - 1][: width - 2]} …"
    return "\n".join([*lines[: _CELL_LINES - 1], last])


def _cell(value: Any) -> str:
    """A figure as a table shows it: what several places agree on once, and a list as a list."""
    match value:
        case None:
            return "-"
        case dict():
            return ", ".join(sorted({_cell(item) for item in value.values()}))
        case list():
            return ", ".join(_cell(item) for item in value)
    return str(value)


def _places(rows: Sequence[Mapping[str, Any]]) -> str:
    """The places of checks: the place's own name if it is one, else the number of each."""
    if len(rows) == 1:
        return " ".join(str(rows[0][key]) for key in ("node", "device") if rows[0].get(key))
    nodes = {row["node"] for row in rows if row.get("node")}
    if not nodes:
        return ""
    devices = sum(1 for row in rows if row.get("device"))
    return f"{len(nodes)} nodes, {devices} devices" if devices else f"{len(nodes)} nodes"
