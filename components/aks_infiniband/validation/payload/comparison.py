"""A measurement against the one that was accepted before: the worst value of each figure, and how far it has fallen."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .checks import Check, make_check

ACCEPTED_KEY = "accepted.json"
"""Key of the report's ConfigMap under which the accepted values lie: finished, values (figure to number)."""
_TOLERANCE = 0.05
"""Two runs on the same sound machines differ by less: the guide's two figures of one table differ by 0.5 % (187.22 and
187.05 GB/s), those of two HCAs by 0.4 % (196.55 and 197.48 Gb/s)."""


def worst_values(
    parts: Mapping[str, Any], checks: Sequence[Check], thresholds: Mapping[str, Mapping[str, Any]]
) -> dict[str, float]:
    """The worst value of each figure of a run."""
    found: dict[str, list[float]] = {}
    for row in (*parts["rdma"], *parts["networks"]):
        if row["value"] is not None:
            found.setdefault(row["figure"], []).append(row["value"])
    for check in checks:
        if check["check"] == "all-reduce" and isinstance(check["measured"], (int, float)):
            found.setdefault("all-reduce", []).append(float(check["measured"]))
    return {figure: max(values) if _lower(figure, thresholds) else min(values) for figure, values in found.items()}


def compare(
    accepted: Mapping[str, Any] | None, values: Mapping[str, float], thresholds: Mapping[str, Mapping[str, Any]]
) -> list[Check]:
    """A warning for every figure that is far worse than it was when the pool was accepted; nothing without that."""
    if not accepted:
        return []
    checks = []
    for figure, value in values.items():
        before = accepted["values"].get(figure)
        if not before:
            continue
        change = value / before - 1
        if (change if _lower(figure, thresholds) else -change) <= _TOLERANCE:
            continue
        when = f"on {accepted['finished']} the pool was accepted with {before:g}"
        cause = f"{when}: a driver, an image or a link is worse now"
        expected = f"within {_TOLERANCE:.0%} of {before:g}"
        checks.append(make_check("regression", "warn", device=figure, expected=expected, measured=value, cause=cause))
    return checks


def accepted_of(text: str | None) -> dict[str, Any] | None:
    """What was accepted before, or None where that cannot be read."""
    try:
        found = json.loads(text or "")
    except ValueError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("values"), dict) else None


def _lower(figure: str, thresholds: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether less of a figure is better."""
    return bool(
        thresholds.get(figure, {}).get("better", "lower" if figure.endswith("latency") else "higher") == "lower"
    )
