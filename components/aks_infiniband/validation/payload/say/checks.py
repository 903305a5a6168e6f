"""A check: its subject and its place, the expected value and the seen one; and its form for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from .expectations import Threshold, limit_of

if TYPE_CHECKING:
    from typing import Unpack

    from .steadiness import Spread


class Try(TypedDict):
    """One time that something was measured: a figure, or what went wrong."""

    value: float | None
    error: str | None


class Place(TypedDict, total=False):
    """The place of a check. A key is None, or left out, if the check concerns all nodes or devices."""

    node: str | None
    device: str | None


class Details(Place, total=False):
    """Details of a check, in addition to its verdict and the expected and measured values. A key that is left out is
    None.
    """

    unit: str | None
    """Unit of the figure."""
    threshold: Threshold | None
    tries: Sequence[Try] | None
    """Every time that it was measured."""
    spread: Spread | None
    """Between the repetitions of one measurement."""
    cause: str | None
    """The likely one; None on a pass."""


class Check(Details):
    """One check as the report has it, with every key.

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
        "spread": details.get("spread"),
        "cause": details.get("cause"),
    }


def not_measured(name: str, cause: str | None, *, expected: object = None, **place: Unpack[Place]) -> Check:
    """A check that was not made, for a cause or by design; then the cause is None."""
    return make_check(name, "not measured", expected=expected, measured=None, cause=cause, **place)


def passes(name: str, expected: object, measured: object = None, **place: Unpack[Place]) -> Check:
    """A check that passes. By default, what was measured is what was expected."""
    return make_check(name, "pass", expected=expected, measured=expected if measured is None else measured, **place)


def fails(name: str, expected: object, measured: object, cause: str, **place: Unpack[Place]) -> Check:
    """A check that fails."""
    return make_check(name, "fail", expected=expected, measured=measured, cause=cause, **place)


def compared(name: str, expected: object, measured: object, cause: str, **place: Unpack[Place]) -> Check:
    """A check that passes if what was measured is what was expected, and otherwise fails for this cause."""
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
    """A check of a figure. By default, expected is its bound in words."""
    if bound is not None:
        more = {"unit": bound["unit"], "threshold": bound, **more}
        asked = asked or limit_of(bound)
    return make_check(name, verdict, expected=asked, measured=measured, **more)


def severity(check: Check) -> int:
    """The order of checks, the worst first: 0 fail, 1 could not be measured, 2 warn. From 3 on a check is not a
    problem.

    A check that could not be made is worse than a warning, because it may hide a failure. A check that is not made by
    design (without a cause), or without a limit, is not a problem.
    """
    if check["verdict"] == "not measured":
        return 1 if check["cause"] else 4
    return {"fail": 0, "warn": 2, "not judged": 3}.get(check["verdict"], 5)


def is_problem(check: Check) -> bool:
    """True if a person has to look at it."""
    return severity(check) <= 2


BETWEEN_MACHINES = "rdma-write-bandwidth"
"""The figure without which a pool does not pass: nothing else shows that machines reach each other at full speed."""


def verdict_of(checks: Sequence[Check]) -> str:
    """The worst verdict; ``not measured`` if nothing was measured, or not the bandwidth between machines.

    Other figures that are not measured by design, or lack a threshold, stand in the coverage alone.
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
    """True if mode enforce fails an update: a check fails or could not be made, or nothing was looked at.

    A figure that cannot be measured by design, such as the bandwidth of a pool of one machine, does not fail it; the
    verdict says so.
    """
    return min(map(severity, checks), default=0) <= 1
