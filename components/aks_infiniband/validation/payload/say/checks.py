"""A check: what was looked at and where, what was expected, what was seen; and how people read it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from .expectations import Threshold, limit_of

if TYPE_CHECKING:
    from typing import Unpack


class Try(TypedDict):
    """One time that something was measured: a figure, or what went wrong."""

    value: float | None
    error: str | None


class Place(TypedDict, total=False):
    """Where a check was made; None, or left out, where it concerns all nodes or devices."""

    node: str | None
    device: str | None


class Details(Place, total=False):
    """What a check may say beside its verdict and what was expected and measured; None where it is left out."""

    unit: str | None
    """Of the figure."""
    threshold: Threshold | None
    tries: Sequence[Try] | None
    """Every time that it was measured."""
    cause: str | None
    """The likely one; None on a pass."""


class Check(Details):
    """One check as it stands in the report, every key of it there.

    The verdict is ``pass``, ``warn``, ``fail``, ``not measured`` or ``not judged``.
    """

    check: str
    verdict: str
    expected: object
    measured: object


def make_check(name: str, verdict: str, *, expected: object, measured: object, **details: Unpack[Details]) -> Check:
    """One check as plain data."""
    return {
        "check": name,
        "verdict": verdict,
        "node": details.get("node"),
        "device": details.get("device"),
        "expected": expected,
        "measured": measured,
        "unit": details.get("unit"),
        "threshold": details.get("threshold"),
        "tries": details.get("tries"),
        "cause": details.get("cause"),
    }


def not_measured(name: str, cause: str | None, *, expected: object = None, **place: Unpack[Place]) -> Check:
    """A check that was not made: for a cause, or by design (then the cause is None)."""
    return make_check(name, "not measured", expected=expected, measured=None, cause=cause, **place)


def passes(name: str, expected: object, measured: object = None, **place: Unpack[Place]) -> Check:
    """A check that passes; what was measured is what was expected, where nothing else is said."""
    return make_check(name, "pass", expected=expected, measured=expected if measured is None else measured, **place)


def fails(name: str, expected: object, measured: object, cause: str, **place: Unpack[Place]) -> Check:
    """A check that fails."""
    return make_check(name, "fail", expected=expected, measured=measured, cause=cause, **place)


def compared(name: str, expected: object, measured: object, cause: str, **place: Unpack[Place]) -> Check:
    """A check that passes where what was measured is what was expected, and else fails for this cause."""
    if measured == expected:
        return passes(name, expected, measured, **place)
    return fails(name, expected, measured, cause, **place)


def judged(
    name: str,
    verdict: str,
    bound: Threshold | None,
    measured: object,
    *,
    asked: str | None = None,
    **more: Unpack[Details],
) -> Check:
    """A check of a figure; expected is its bound in words, where nothing else is asked."""
    if bound is not None:
        more = {"unit": bound["unit"], "threshold": bound, **more}
        asked = asked or limit_of(bound)
    return make_check(name, verdict, expected=asked, measured=measured, **more)


def spread(values: Iterable[float]) -> str:
    """The least and the most of some values."""
    ordered = sorted(values)
    return f"{ordered[0]:g}" if ordered[0] == ordered[-1] else f"{ordered[0]:g} to {ordered[-1]:g}"


def severity(check: Check) -> int:
    """The order of checks, the worst first: 0 fail, 1 could not be measured, 2 warn; from 3 on no problem.

    A check that could not be made is worse than a warning, because it may hide a failure. A check that is not made by
    design (it has no cause), or for which there is no limit, is no problem.
    """
    if check["verdict"] == "not measured":
        return 1 if check["cause"] else 4
    return {"fail": 0, "warn": 2, "not judged": 3}.get(check["verdict"], 5)


def is_problem(check: Check) -> bool:
    """Whether somebody has to look at it."""
    return severity(check) <= 2


BETWEEN_MACHINES = "rdma-write-bandwidth"
"""The figure without which a pool does not pass: nothing else shows that machines reach each other at full speed."""


def verdict_of(checks: Sequence[Check]) -> str:
    """The worst of them; ``not measured`` when nothing was, or not the bandwidth between machines.

    Other figures that are not measured by design, or have no threshold, are named in the coverage alone.
    """
    worst = min(checks, key=severity, default=None)
    if worst is not None and severity(worst) <= 1:
        return worst["verdict"]
    if any(check["check"] == BETWEEN_MACHINES and check["verdict"] == "not measured" for check in checks):
        return "not measured"
    if worst is not None and is_problem(worst):
        return worst["verdict"]
    return "pass" if any(check["verdict"] == "pass" for check in checks) else "not measured"


def fails_update(checks: Sequence[Check]) -> bool:
    """Whether mode enforce fails an update: a check fails or could not be made, or nothing was looked at.

    What cannot be measured by design, as the bandwidth of a pool of one machine, does not: then the verdict says so.
    """
    return min(map(severity, checks), default=0) <= 1


def is_worth_a_line(check: Check) -> bool:
    """Whether it is a problem, or is not judged and says why a figure is what it is."""
    return is_problem(check) or (check["verdict"] == "not judged" and bool(check["cause"]))


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
        at = f" on {where(row.places)}" if row.places else ""
        lines.append(f"{row.verdict}: {row.check}{at}: {seen}{' - ' if row.cause else ''}{row.cause}")
    return lines


def where(places: Mapping[str, Sequence[str]], most: int | None = None) -> str:
    """Nodes, each with its devices in brackets; of more names than the most, the first, the last and their number."""
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
