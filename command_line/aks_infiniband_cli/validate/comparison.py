"""An earlier measurement next to a new one: the figures that are worse, and by how much."""

from dataclasses import dataclass
from typing import Any

from aks_infiniband.facts.baselines import FIGURES
from aks_infiniband.handwritten import HandwrittenError
from aks_infiniband.validation.reports import Accepted, Report, report_with_values, worst_values

from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate.report_file import FORMS, reports_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One figure, the worst value of it in both measurements."""

    figure: str
    unit: str
    before: float
    now: float
    change_percent: float
    worse: bool
    """True if it is worse by more than two measurements of sound machines differ."""


def earlier(text: str | bytes) -> dict[str, Accepted]:
    """By pool, when a report was made and its worst value of each figure. Raises CommandError for what has none."""
    try:
        return dict(_earlier(report, path) for path, report in reports_of(text))
    except HandwrittenError as error:
        raise CommandError(f"the earlier report cannot be read: {error.at_its_place()}. Give {FORMS}") from error


def _earlier(report: Any, path: tuple[str, ...]) -> tuple[str, Accepted]:
    try:
        return str(report_with_values(report)["pool"]), _values_of(report)
    except HandwrittenError as error:
        raise HandwrittenError(str(error), (*path, *error.path)) from error


def _values_of(report: Any) -> Accepted:
    parts: Any = {"rdma": [], "networks": [], **report}
    values = report["values"] if "values" in report else worst_values(parts, report["checks"], report["thresholds"])
    return {"finished": report["finished"], "values": values}


def changes(before: Accepted | None, report: Report) -> list[Change]:
    """Every figure that both have. The report says which are worse, because its run knew the earlier values."""
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
