"""A test run as a document of the Common Test Report Format."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version
from typing import Any, Final

from aks_infiniband_cli.test_results.cases import Case, Suite

SPECIFICATION: Final = "0.1.0"
"""The version that the format's own examples name; https://github.com/ctrf-io/ctrf, read on 2026-11-28."""


def ctrf(suites: Sequence[Suite], written: datetime) -> dict[str, Any]:
    """The document.

    The format demands times that a report does not have. A check takes 0; the run begins when its first pool was
    measured, and ends when its last one was, or when the document is written if no pool was measured.
    """
    tests = [_test(suite.pool, case) for suite in suites for case in suite.cases]
    counts = Counter(test["status"] for test in tests)
    measured = [suite.finished for suite in suites if suite.finished is not None] or [written]
    tool = {"name": "aks-infiniband", "version": version("aks-infiniband-cli")}
    summary = {
        "tests": len(tests),
        **{status: counts[status] for status in ("passed", "failed", "skipped", "pending", "other")},
        "suites": len(suites),
        "start": _milliseconds(min(measured)),
        "stop": _milliseconds(max(measured)),
    }
    return {
        "reportFormat": "CTRF",
        "specVersion": SPECIFICATION,
        "timestamp": written.isoformat(timespec="seconds"),
        "generatedBy": "aks-infiniband",
        "results": {"tool": tool, "summary": summary, "tests": tests},
    }


def _test(pool: str, case: Case) -> dict[str, Any]:
    return {
        "name": f"{case.title} on {case.node}" if case.node else case.title,
        "status": case.outcome,
        "rawStatus": case.verdict,
        "duration": 0,
        "suite": [pool, case.node] if case.node else [pool],
        "message": case.told,
        "extra": {"pool": pool, "check": case.name, "node": case.node, "device": case.device},
    }


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
