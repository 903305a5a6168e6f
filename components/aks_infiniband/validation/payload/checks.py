"""The shape of one check: what was asked, of whom, what was expected and what was seen."""

from __future__ import annotations

from typing import Any

Check = dict[str, Any]
"""``check``, ``verdict``, ``node``, ``device``, ``expected``, ``measured``, ``unit``, ``threshold``, ``tries``,
``cause``.

The verdict is ``pass``, ``warn``, ``fail`` or ``not measured``; ``node`` and ``device`` are None where the check
concerns all of them, ``cause`` is the likely one and None on a pass. ``unit`` is that of a figure, ``threshold`` what
it is judged by and where that comes from, ``tries`` every time that it was measured: value, error.
"""


def make_check(
    name: str,
    verdict: str,
    *,
    expected: object,
    measured: object,
    node: str | None = None,
    device: str | None = None,
    cause: str | None = None,
    unit: str | None = None,
    threshold: dict[str, Any] | None = None,
    tries: list[dict[str, Any]] | None = None,
) -> Check:
    """One check as plain data."""
    return {
        "check": name,
        "verdict": verdict,
        "node": node,
        "device": device,
        "expected": expected,
        "measured": measured,
        "unit": unit,
        "threshold": threshold,
        "tries": tries,
        "cause": cause,
    }
