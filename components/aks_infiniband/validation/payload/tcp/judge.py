"""Checks of what sockperf measured on each network."""

from __future__ import annotations

from collections.abc import Sequence

from ..say.checks import Check, Place, judged, not_measured
from ..say.expectations import Threshold, Thresholds, verdict_on
from ..say.figures import Figure
from ..talk.time_left import TIME_IS_UP
from .tools import kind_of


def judge_networks(rows: Sequence[Figure], thresholds: Thresholds) -> list[Check]:
    """One check for each figure of a network if all is well; otherwise one for each node that falls short."""
    groups: dict[tuple[str, str], list[Figure]] = {}
    for row in rows:
        groups.setdefault((row["figure"], row["network"]), []).append(row)
    return [check for group in groups.values() for check in _judge(group, thresholds.get(group[0]["figure"]))]


def _judge(rows: Sequence[Figure], threshold: Threshold | None) -> list[Check]:
    checks = [_of_node(row, threshold) for row in rows]
    bad = [check for check in checks if check["verdict"] != "pass"]
    if bad:
        return bad
    values = sorted(row["value"] for row in rows if row["value"] is not None)
    return [{**checks[0], "node": None, "measured": f"{values[0]:g} to {values[-1]:g}", "tries": None}]


def _of_node(row: Figure, threshold: Threshold | None) -> Check:
    value, interface, cause = row["value"], row["network"], None
    if not row["tries"]:
        return not_measured(row["figure"], TIME_IS_UP, node=row["node"], device=interface)
    if value is None:
        # The pod network is measured for comparison only, so it fails nothing.
        verdict = "fail" if kind_of(interface) == "ipoib" else "warn"
        cause = str(row["tries"][-1]["error"])
    else:
        verdict = verdict_on(value, threshold)
        cause = _SLOW.get(verdict, "").format(interface) or None
    if cause is not None:
        cause = f"with {row['peer']}: {cause}"
    elif verdict == "pass" and len(row["tries"]) > 1:
        verdict, cause = "warn", f"it took {len(row['tries'])} tries"
    place: Place = {"node": row["node"], "device": interface}
    return judged(row["figure"], verdict, threshold, value, **place, cause=cause, tries=row["tries"])


_SLOW = {
    "fail": "interface {} is slower than IPoIB is on these machines (a busy processor, another MTU, or a slow link)",
    "warn": "{} is slower than usual",
}
