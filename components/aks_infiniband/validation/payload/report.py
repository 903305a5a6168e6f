"""Checks to a report: the document that a validation leaves in the cluster and in the stack's outputs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

SCHEMA_VERSION = 2
REPORT_KEY = "report.json"
"""Key of the report in its ConfigMap."""

Check = Mapping[str, Any]


def verdict_of(checks: Sequence[Check]) -> str:
    """The worst of them; ``not measured`` when nothing was.

    A figure that was to be measured and could not be (it carries a cause) is worse than a warning: not measured is not
    pass. One that nobody meant to measure, or that nothing is there to judge by, is told in the coverage alone.
    """
    if any(check["verdict"] == "fail" for check in checks):
        return "fail"
    if any(check["verdict"] == "not measured" and check["cause"] for check in checks):
        return "not measured"
    seen = {check["verdict"] for check in checks}
    return next((verdict for verdict in ("warn", "pass") if verdict in seen), "not measured")


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


def lines_of(checks: Sequence[Check]) -> list[str]:
    """What did not go well, in lines: what was expected, what was seen, where, and why that may be.

    Nodes and devices that show the same are named in one line.
    """
    places: dict[tuple[str, str], dict[str, list[str]]] = {}
    for check in checks:
        if check["verdict"] not in ("fail", "warn") and not (check["verdict"] == "not measured" and check["cause"]):
            continue
        cause = f" - {check['cause']}" if check["cause"] else ""
        seen = f"expected {as_text(check['expected'])}, measured {measured_text(check)}"
        devices = places.setdefault((f"{check['verdict']}: {check['check']}", f": {seen}{cause}"), {})
        if check["node"]:
            devices.setdefault(check["node"], []).extend([check["device"]] if check["device"] else [])
    return [head + _places(devices) + tail for (head, tail), devices in places.items()]


def _places(devices: Mapping[str, Sequence[str]]) -> str:
    if not devices:
        return ""
    return " on " + ", ".join(f"{node} ({', '.join(names)})" if names else node for node, names in devices.items())


def measured_text(check: Check) -> str:
    """What was seen, with its unit, and the tries before the last."""
    shown = as_text(check["measured"])
    if check["measured"] is not None and check["unit"]:
        shown += f" {check['unit']}"
    earlier = [one["value"] for one in (check["tries"] or [])[:-1]]
    return shown + (f" (before: {', '.join(as_text(value) for value in earlier)})" if earlier else "")


def as_text(value: object) -> str:
    """A value of a check as it is shown."""
    if value is None:
        return "nothing"
    return json.dumps(value) if isinstance(value, (dict, list)) else str(value)


def headline(report: Mapping[str, Any]) -> str:
    """Pool, verdict and coverage in one line."""
    return f"pool {report['pool']}: {report['verdict']} ({report['coverage']['summary']})"


def message_of(report: Mapping[str, Any]) -> str:
    """The headline, and a line for everything that did not go well."""
    return "\n".join([headline(report), *lines_of(report["checks"])])
