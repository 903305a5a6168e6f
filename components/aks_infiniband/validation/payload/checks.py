"""The shape of one check: what was asked, of whom, what was expected and what was seen."""

from __future__ import annotations

from typing import Any

Check = dict[str, Any]
"""``check``, ``verdict``, ``node``, ``device``, ``expected``, ``measured``, ``cause``.

The verdict is ``pass``, ``warn``, ``fail`` or ``not measured``;
``node`` and ``device`` are None where the check concerns all of them, ``cause`` is the likely one and None on a pass.
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
) -> Check:
    """One check as plain data."""
    return {
        "check": name,
        "verdict": verdict,
        "node": node,
        "device": device,
        "expected": expected,
        "measured": measured,
        "cause": cause,
    }
