"""An earlier measurement beside a new one: which figure is worse, and by how much."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aks_infiniband.facts.baselines import FIGURES
from aks_infiniband.validation.reports import Accepted, Report, worst_values

from aks_infiniband_cli.console import CommandError

_FORMS = "a report, what `aks-infiniband validate --output json` prints, or what `pulumi stack output --json` prints"


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One figure, the worst value of it in both measurements."""

    figure: str
    unit: str
    before: float
    now: float
    change_percent: float
    worse: bool
    """By more than two measurements of sound machines differ."""


def earlier(text: str) -> dict[str, Accepted]:
    """By pool, when a report was made and its worst value of each figure. Raises CommandError for what has none."""
    try:
        document = json.loads(text)
        reports = [document] if "checks" in document else list(map(_report_of, document["pools"].values()))
        return {str(report["pool"]): _values_of(report) for report in reports if report}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CommandError(f"the earlier report cannot be read ({error!r}): give {_FORMS}") from error


def _report_of(pool: Mapping[str, Any]) -> Any:
    """Of this command's document, or of a stack's outputs."""
    return pool.get("report") or pool.get("validation")


def _values_of(report: Any) -> Accepted:
    values = report["values"] if "values" in report else worst_values(report, report["checks"], report["thresholds"])
    return {"finished": report["finished"], "values": values}


def changes(before: Accepted | None, report: Report) -> list[Change]:
    """Every figure that both have. Which are worse, the report says: its run was told what was before."""
    now = worst_values(report, report["checks"], report["thresholds"])
    worse = {check["device"] for check in report["checks"] if check["check"] == "regression"}
    return [
        Change(
            figure=figure,
            unit=FIGURES[figure].unit,
            before=value,
            now=now[figure],
            change_percent=round((now[figure] / value - 1) * 100, 1),
            worse=figure in worse,
        )
        for figure, value in (before["values"] if before else {}).items()
        if value and figure in now
    ]
