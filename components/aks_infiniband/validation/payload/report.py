"""Checks to a report: the document that a validation leaves in the cluster and in the stack's outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .checks import Check, is_problem, severity
from .rendering import lines_of

SCHEMA_VERSION = 2
REPORT_KEY = "report.json"
"""Key of the report in its ConfigMap."""


def verdict_of(checks: Sequence[Check]) -> str:
    """The worst of them; ``not measured`` when nothing was.

    What nobody meant to measure, or that nothing is there to judge by, is told in the coverage alone.
    """
    worst = min(checks, key=severity, default=None)
    if worst is not None and is_problem(worst):
        return worst["verdict"]
    return "pass" if any(check["verdict"] == "pass" for check in checks) else "not measured"


def build_report(
    facts_by_node: Mapping[str, Mapping[str, Any]],
    checks: Sequence[Check],
    expected: Mapping[str, Any],
    *,
    run: str,
    mode: str,
    finished: str,
    parts: Mapping[str, Any],
) -> dict[str, Any]:
    """The report of one run: ``run`` is the Job's uid, ``finished`` a time in ISO 8601, ``parts`` what was measured."""
    return {
        "schema_version": SCHEMA_VERSION,
        "pool": expected["pool"],
        "vm_size": expected["vm_size"],
        "run": run,
        "mode": mode,
        "finished": finished,
        "verdict": verdict_of(checks),
        "coverage": coverage(facts_by_node, checks, expected),
        "checks": list(checks),
        "thresholds": expected["thresholds"],
        **{"rdma": [], "networks": [], "collective": None, "counters": {}, "accepted": None, **parts},
        "nodes": {node: dict(facts_by_node[node]) for node in sorted(facts_by_node)},
    }


def coverage(
    facts_by_node: Mapping[str, Mapping[str, Any]], checks: Sequence[Check], expected: Mapping[str, Any]
) -> dict[str, Any]:
    """How much of what was to be looked at was looked at, as numbers and as one line."""
    hcas = sum(len(facts["hcas"]) for facts in facts_by_node.values())
    all_hcas = expected["node_count"] * expected["hcas"]["count"]
    not_measured, not_judged = (_named(checks, verdict) for verdict in ("not measured", "not judged"))
    summary = f"{len(facts_by_node)} of {expected['node_count']} nodes, {hcas} of {all_hcas} HCAs"
    if not_measured:
        summary += f"; {', '.join(not_measured)}: not measured"
    if not_judged:
        summary += f"; {', '.join(not_judged)}: measured, not judged"
    return {
        "nodes": {"looked_at": len(facts_by_node), "expected": expected["node_count"]},
        "hcas": {"looked_at": hcas, "expected": all_hcas},
        "not_measured": not_measured,
        "not_judged": not_judged,
        "summary": summary,
    }


def _named(checks: Sequence[Check], verdict: str) -> list[str]:
    return list(dict.fromkeys(check["check"] for check in checks if check["verdict"] == verdict))


def unmeasured_report(expected: Mapping[str, Any], *, mode: str) -> dict[str, Any]:
    """The report of a pool that nobody looked at: everything is ``not measured``."""
    report = build_report({}, [], expected, run="", mode=mode, finished="", parts={})
    everything = ["nodes", "HCAs", *expected["figures"], *expected["not_measured"]]
    report["coverage"]["not_measured"] = everything
    report["coverage"]["summary"] += f"; {', '.join(everything)}: not measured"
    return report


def headline(report: Mapping[str, Any]) -> str:
    """Pool, verdict and coverage in one line."""
    return f"pool {report['pool']}: {report['verdict']} ({report['coverage']['summary']})"


def message_of(report: Mapping[str, Any]) -> str:
    """The headline, and a line for everything that did not go well."""
    return "\n".join([headline(report), *lines_of(report["checks"])])
