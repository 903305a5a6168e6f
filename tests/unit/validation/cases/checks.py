"""Checks as a case shows them."""

from collections.abc import Sequence
from typing import Any, Final

from tests.cases import Case

USUAL: Final = "usual"
"""Stands for the threshold that a figure has by default."""
Outcome = list[dict[str, Any]]


def differing(checks: Sequence[Any], well: Sequence[Any], usual: Case | None = None) -> Outcome:
    """The checks that are not among those of what is healthy, and those that only it has.

    usual: thresholds by the names of checks.
    """
    names = {check["check"] for check in checks}
    absent = dict.fromkeys(check["check"] for check in well if check["check"] not in names)
    shown_ones = shown([check for check in checks if check not in well], usual or {})
    return [*shown_ones, *({"check": name, "verdict": "not there"} for name in absent)]


def shown(checks: Sequence[Any], usual: Case) -> Outcome:
    """Checks with the keys that have a value; checks that differ in the device alone become one."""
    alike: dict[str, dict[str, Any]] = {}
    for check in checks:
        told = {key: value for key, value in check.items() if value is not None}
        if "threshold" in told and told["threshold"] == usual.get(told["check"]):
            told["threshold"] = USUAL
        if "tries" in told:
            told["tries"] = [made["error"] or made["value"] for made in told["tries"]]
        key = str({**told, "device": None})
        if key in alike and "device" in told:
            alike[key]["device"] += f", {told['device']}"
        else:
            alike[key] = told
    return list(alike.values())
