"""A validation's report, for readers outside of the pods: its form, its rendering and its comparison."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from aks_infiniband.validation.explanation import passed, table
from aks_infiniband.validation.payload.await_nodes import Promise, lacks
from aks_infiniband.validation.payload.light_check.due import ADMITTED, HELD, MAINTENANCE
from aks_infiniband.validation.payload.light_check.state import CONDITION, EVENT_REASONS, EVENTS_OF_NODES, WATCH_SOURCE
from aks_infiniband.validation.payload.light_check.state import SOURCE as LIGHT_CHECK
from aks_infiniband.validation.payload.report.acceptance import ACCEPTED_KEY, accepted_of, worst_values
from aks_infiniband.validation.payload.report.document import SCHEMA_VERSION, Accepted, Report, headline, message_of
from aks_infiniband.validation.payload.report.kept import evidence_of, kept_report, report_in
from aks_infiniband.validation.payload.say.checks import Check, severity, verdict_of
from aks_infiniband.validation.payload.say.expectations import Threshold
from aks_infiniband.validation.payload.say.lines import as_text, measured_text, shown_bytes
from aks_infiniband.validation.payload.talk.boards import board_names
from aks_infiniband.validation.report_form import check_verdicts, report_with_values, whole_report

__all__ = [
    "ACCEPTED_KEY", "CONDITION", "EVENTS_OF_NODES", "EVENT_REASONS", "LIGHT_CHECK", "SCHEMA_VERSION",
    "WATCH_EVENT_REASONS", "WATCH_SOURCE", "Accepted",
    "Check", "Promise", "Report", "Threshold", "accepted_of", "age_of", "as_text", "board_names", "check_verdicts",
    "evidence_of",
    "headline", "kept_reports", "kinds_of", "lacks", "measured_text", "message_of", "passed", "report_in",
    "report_with_values", "severity", "shown_bytes", "summary_of", "table", "verdict_of", "whole_report",
    "worst_values",
]  # fmt: skip

HEEDED: Final = MAINTENANCE
"""Reason of the watch's Events about announced maintenance."""
WATCH_EVENT_REASONS: Final = (HELD, ADMITTED, MAINTENANCE)
"""Reasons of the watch's Events."""
_KEEPER: Final = "pulumi:index:Stash"


def kinds_of(checks: Sequence[Check]) -> list[str]:
    """The kinds of check that were made, each once."""
    return list(dict.fromkeys(check["check"] for check in checks if check["verdict"] != "not measured"))


def age_of(report: Mapping[str, Any], now: datetime) -> str:
    """The age of a report, such as `3 days ago`; empty if it lacks a time."""
    try:
        seconds = (now - datetime.fromisoformat(report["finished"])).total_seconds()
    except (KeyError, TypeError, ValueError):
        return ""
    for length, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * length:
            return f"{seconds // length:.0f} {unit} ago"
    return f"{max(0, seconds):.0f} seconds ago"


def summary_of(report: Any) -> dict[str, str]:
    """The stack's outputs on a pool's validation: verdict, coverage, and its end (empty if nothing was measured). The
    report as a whole is in the engine's state once already.

    report: a Report, as Pulumi hands it on.
    """
    return {
        "verdict": report["verdict"],
        "coverage": report["coverage"]["summary"],
        "finished": report["finished"],
    }


def kept_reports(deployment: Mapping[str, Any]) -> dict[str, Report]:
    """By pool, the reports that a stack has kept. deployment: the engine's state of the stack."""
    stashes = [item for item in deployment.get("resources") or () if item.get("type") == _KEEPER]
    kept = [(item.get("outputs") or {}).get("output") for item in stashes]
    reports = [kept_report(text) for text in kept if isinstance(text, str)]
    return {str(report.get("pool")): report for report in reports if report and "checks" in report}
