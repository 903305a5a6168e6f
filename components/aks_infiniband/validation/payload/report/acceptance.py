"""A pool's figures next to those with which it was accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..say.checks import Check, make_check
from ..say.expectations import Thresholds, less_is_better
from ..talk.config_maps import object_in
from .document import Accepted, Parts

ACCEPTED_KEY = "accepted.json"
"""Key of the report's ConfigMap under which the accepted values lie: finished, values (figure to number)."""
_TOLERANCE = 0.05
"""A later run that is worse by more than this share is worth a warning. Two runs on the same sound machines differ by
less: the guide's two figures of one table differ by 0.1 % (187.22 and 187.05 GB/s), those of two HCAs by 0.5 % (196.55
and 197.48 Gb/s).
"""


def worst_values(parts: Parts, checks: Sequence[Check], thresholds: Thresholds) -> dict[str, float]:
    """The worst value of each figure of a run."""
    by_figure: dict[str, list[float]] = {}
    for row in (*parts["rdma"], *parts["networks"]):
        if row["value"] is not None:
            by_figure.setdefault(row["figure"], []).append(row["value"])
    for check in checks:
        if check["check"] in ("all-reduce", "all-reduce-nvlink") and isinstance(check["measured"], (int, float)):
            by_figure.setdefault(check["check"], []).append(float(check["measured"]))
    return {
        figure: max(values) if less_is_better(figure, thresholds) else min(values)
        for figure, values in by_figure.items()
    }


def compare(accepted: Accepted | None, values: Mapping[str, float], thresholds: Thresholds) -> list[Check]:
    """A warning for every figure that is far worse than when the pool was accepted. A pool that was never accepted gets
    none.
    """
    if not accepted:
        return []
    checks = []
    for figure, value in values.items():
        before = accepted["values"].get(figure)
        if not before:
            continue
        change = value / before - 1
        if (change if less_is_better(figure, thresholds) else -change) <= _TOLERANCE:
            continue
        when = f"on {accepted['finished']} the pool was accepted with {before:g}"
        cause = f"{when}: a driver, an image or a link is worse now"
        expected = f"within {_TOLERANCE:.0%} of {before:g}"
        checks.append(make_check("regression", "warn", device=figure, expected=expected, measured=value, cause=cause))
    return checks


def accepted_of(text: str | None) -> Accepted | None:
    """The figures that were accepted before; None if they cannot be read."""
    accepted = object_in(text)
    if accepted is None or not isinstance(accepted.get("values"), dict):
        return None
    return {"finished": accepted["finished"], "values": accepted["values"]}
