"""A check: what was looked at and where, what was expected, what was seen. And how a limit is judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from typing import Unpack


class Try(TypedDict):
    """One time that something was measured: a figure, or what went wrong."""

    value: float | None
    error: str | None


class Threshold(TypedDict, total=False):
    """What a figure is judged by, and where that comes from: a row of the baselines, or what the user gave."""

    unit: str
    better: str
    """higher or lower."""
    expected: float | None
    warn: float | None
    fail: float | None
    basis: str
    source: str
    message_bytes: int | None


Thresholds = Mapping[str, Threshold]
"""By figure; a figure without one is measured and not judged."""


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


def less_is_better(figure: str, thresholds: Thresholds) -> bool:
    """Whether less of a figure is better: as its threshold says, and without one for every latency."""
    usual = "lower" if figure.endswith("latency") else "higher"
    return thresholds.get(figure, {}).get("better", usual) == "lower"


def falls_short(value: float, threshold: Threshold | None, level: str = "fail") -> bool:
    """Whether a value is worse than a threshold's level, warn or fail; never where it has none."""
    if threshold is None:
        return False
    limit = threshold.get("warn") if level == "warn" else threshold.get("fail")
    if limit is None:
        return False
    return value < limit if threshold["better"] == "higher" else value > limit


def verdict_on(value: float, threshold: Threshold | None) -> str:
    """``pass``, ``warn`` or ``fail``; ``not judged`` without a threshold."""
    if threshold is None:
        return "not judged"
    return next((level for level in ("fail", "warn") if falls_short(value, threshold, level)), "pass")


def limit_of(threshold: Threshold, note: str | None = None, *, level: str = "fail") -> str | None:
    """A threshold in words, such as `at least 380 Gb/s (quoted)`; None where it has no limit.

    note: what stands in brackets instead of the threshold's basis. level: fail or warn; the other where it has none.
    """
    limits = [threshold.get("fail"), threshold.get("warn")]
    limit = next((limit for limit in (limits if level == "fail" else limits[::-1]) if limit is not None), None)
    if limit is None:
        return None
    word = "at least" if threshold["better"] == "higher" else "at most"
    return f"{word} {limit:g} {threshold['unit']} ({note or threshold['basis']})"


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


def is_worth_a_line(check: Check) -> bool:
    """Whether it is a problem, or is not judged and says why a figure is what it is."""
    return is_problem(check) or (check["verdict"] == "not judged" and bool(check["cause"]))
