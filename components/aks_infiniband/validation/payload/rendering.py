"""Checks as people read them, the worst first: lines of a message, and a table that fits 80 columns."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .checks import Check, is_problem, is_worth_a_line, severity

WIDTH = 76
"""Columns of a table: 80, less the indentation that a terminal's caller adds."""
MOST_LINES = 4
"""Of one cell; a longer one is cut, and the report has the rest."""
MOST_NAMES = 3
"""Up to this number of devices or nodes a table names all; of more it names the first, the last and their number."""

NARROWEST = 10
"""Characters in a column of what was expected or measured."""

_HEAD = ("CHECK", "WHERE", "EXPECTED", "MEASURED")
_CAUSE = "likely cause: "


class Row(NamedTuple):
    """Checks of one name that say the same, with every node and device that they are of."""

    check: str
    verdict: str
    places: Mapping[str, Sequence[str]]
    expected: str
    measured: str
    cause: str


def rows_of(checks: Sequence[Check]) -> list[Row]:
    """The checks, the worst first; those that say the same of several nodes and devices are one row."""
    rows: dict[tuple[str, str, str, str, str], dict[str, list[str]]] = {}
    for check in sorted(checks, key=severity):
        told = (as_text(check["expected"]), measured_text(check), check["cause"] or "")
        places = rows.setdefault((check["check"], check["verdict"], *told), {})
        node, device = check["node"] or "", check["device"]
        if node or device:
            places.setdefault(node, []).extend([device] if device else [])
    return [Row(name, verdict, places, *told) for (name, verdict, *told), places in rows.items()]


def lines_of(checks: Sequence[Check]) -> list[str]:
    """What is worth a line, for each row: what was expected, what was seen, where, and the likely cause."""
    lines = []
    for row in rows_of([check for check in checks if is_worth_a_line(check)]):
        seen = f"expected {row.expected}, measured {row.measured}"
        where = f" on {_where(row.places)}" if row.places else ""
        lines.append(f"{row.verdict}: {row.check}{where}: {seen}{' - ' if row.cause else ''}{row.cause}")
    return lines


def table(checks: Sequence[Check], *, most_rows: int | None = None) -> list[str]:
    """What did not go well as a table, each row followed by its cause; rows beyond the most are counted, not shown."""
    rows = rows_of([check for check in checks if is_problem(check)])
    shown = rows[:most_rows]
    cells = [_HEAD, *(_cells(row) for row in shown)]
    widths = _widths(cells)
    lines = _aligned(_HEAD, widths) if shown else []
    for row, texts in zip(shown, cells[1:]):
        lines += _aligned(texts, widths)
        lines += textwrap.wrap(row.cause and _CAUSE + row.cause, WIDTH, initial_indent="  ", subsequent_indent="    ")
    return [*lines, f"and {len(rows) - len(shown)} rows more"] if len(rows) > len(shown) else lines


def passed(checks: Sequence[Check]) -> str:
    """One line for what passed."""
    return f"{sum(check['verdict'] == 'pass' for check in checks)} of {len(checks)} checks passed"


def _cells(row: Row) -> tuple[str, ...]:
    name = row.check if row.verdict == "fail" else f"{row.check} ({row.verdict})"
    return name, _where(row.places, MOST_NAMES) or "the pool", row.expected, row.measured


def _where(places: Mapping[str, Sequence[str]], most: int | None = None) -> str:
    """Nodes, each with its devices in brackets."""
    if most and len(places) > most:
        return _few(list(places), most)
    texts = []
    for node, devices in places.items():
        names = _few(devices, most)
        texts.append(f"{node} ({names})" if node and names else node or names)
    return ", ".join(texts)


def _few(names: Sequence[str], most: int | None) -> str:
    if most and len(names) > most:
        return f"{names[0]} to {names[-1]}, {len(names)} in all"
    return ", ".join(names)


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """A width for each column, narrowed until a row fits; only the name of a check may break, at a hyphen."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows)]
    words = [[word for row in rows for word in row[column].split()] for column in (0, 1)]
    parts = [part + "-" for word in words[0] for part in word.split("-")]
    least = [max(map(len, parts)), max(map(len, words[1])), *(min(NARROWEST, width) for width in widths[2:])]
    while sum(widths) + 2 * (len(widths) - 1) > WIDTH and widths != least:
        spare = [width - narrow for width, narrow in zip(widths, least)]
        widths[spare.index(max(spare))] -= 1
    return widths


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    """The lines of one row."""
    columns = [
        textwrap.wrap(cell, width, max_lines=MOST_LINES, placeholder=" …", break_on_hyphens=column == 0) or [""]
        for column, (cell, width) in enumerate(zip(cells, widths))
    ]
    height = max(len(column) for column in columns)
    padded = [[*column, *[""] * (height - len(column))] for column in columns]
    return ["  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip() for line in zip(*padded)]


def measured_text(check: Check) -> str:
    """What was seen, with its unit, and the tries before the last."""
    shown = as_text(check["measured"])
    if check["measured"] is not None and check["unit"]:
        shown += f" {check['unit']}"
    earlier = [made["value"] for made in (check["tries"] or [])[:-1]]
    return shown + (f" (before: {', '.join(as_text(value) for value in earlier)})" if earlier else "")


def as_text(value: object) -> str:
    """A value of a check as it is shown."""
    if value is None:
        return "nothing"
    return json.dumps(value) if isinstance(value, (dict, list)) else str(value)


def shown_bytes(count: int) -> str:
    """A message size as people write it."""
    for exponent, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count >= 1 << exponent:
            return f"{count / (1 << exponent):g} {unit}"
    return f"{count} B"
