"""Checks in words: the rows and lines that people read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .checks import Check, is_problem, severity
from .steadiness import shown


def spread(values: Iterable[float]) -> str:
    """The least and the most of some values."""
    ordered = sorted(values)
    return f"{ordered[0]:g}" if ordered[0] == ordered[-1] else f"{ordered[0]:g} to {ordered[-1]:g}"


def is_worth_a_line(check: Check) -> bool:
    """True if a check is a problem, or is not judged but says why a figure is what it is."""
    return is_problem(check) or (check["verdict"] == "not judged" and bool(check["cause"]))


class Row(NamedTuple):
    """Checks of one name that say the same, with all their nodes and devices."""

    check: str
    verdict: str
    places: Mapping[str, Sequence[str]]
    expected: str
    measured: str
    cause: str


def rows_of(checks: Sequence[Check]) -> list[Row]:
    """The checks, the worst first. Checks that say the same of several nodes and devices are one row."""
    rows: dict[tuple[str, str, str, str, str], dict[str, list[str]]] = {}
    for check in sorted(checks, key=severity):
        told = (as_text(check["expected"]), measured_text(check), check["cause"] or "")
        places = rows.setdefault((check["check"], check["verdict"], *told), {})
        node, device = check["node"] or "", check["device"]
        if node or device:
            places.setdefault(node, []).extend([device] if device else [])
    return [Row(name, verdict, places, *told) for (name, verdict, *told), places in rows.items()]


def lines_of(checks: Sequence[Check]) -> list[str]:
    """A line for each row that is worth one: the expected value, the seen value, the place, and the likely cause."""
    lines = []
    for row in rows_of([check for check in checks if is_worth_a_line(check)]):
        seen = f"expected {row.expected}, measured {row.measured}"
        at = f" on {where(row.places)}" if row.places else ""
        lines.append(f"{row.verdict}: {row.check}{at}: {seen}{' - ' if row.cause else ''}{row.cause}")
    return lines


def where(places: Mapping[str, Sequence[str]], most: int | None = None) -> str:
    """Write nodes, each with its devices in brackets. If there are more names than `most`, it writes two and the
    number.
    """
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


def measured_text(check: Check) -> str:
    """The seen value, with its unit, the spread of its repetitions, and the tries before the last."""
    text = as_text(check["measured"])
    if check["measured"] is not None and check["unit"]:
        text += f" {check['unit']}"
    if spread_shown := shown(check.get("spread")):
        text += f" ({spread_shown})"
    earlier = [made["value"] for made in (check["tries"] or [])[:-1]]
    return text + (f" (before: {', '.join(as_text(value) for value in earlier)})" if earlier else "")


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
