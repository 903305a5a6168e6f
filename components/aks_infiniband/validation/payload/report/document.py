"""Checks to a report: the document that a validation leaves in the cluster and in the stack's outputs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from ..collective.results import Collective
from ..look.counters import Counters
from ..look.facts import Facts, FactsByNode
from ..say.checks import Check, Try, lines_of, make_check, verdict_of
from ..say.expectations import Expectations, Thresholds, less_is_better
from ..talk.api import compressed, decompressed, object_in, texts_of

SCHEMA_VERSION = 2
REPORT_KEY = "report.json.gz"
"""Key of the report in its ConfigMap."""
PLAIN_REPORT_KEY = "report.json"
"""Key of the report that versions up to 0.2 have left, which did not compress it."""
EVIDENCE = "report sha256:"
"""How the first line of the termination message of the pod that has left the report begins."""


def evidence_of(report: Mapping[str, object]) -> str:
    """The line that proves a report: whoever may patch the ConfigMap cannot change what the kubelet says of a pod."""
    return EVIDENCE + hashlib.sha256(json.dumps(report, sort_keys=True).encode()).hexdigest()


class Row(TypedDict, total=False):
    """One figure that was measured, with all its tries: between two HCAs, or over a network (the interface).

    side_by_side: what it was while all rails were measured at once, where they were.
    """

    figure: str
    node: str
    device: str
    rail: str
    peer: str
    peer_device: str
    network: str
    value: float | None
    tries: list[Try]
    neighbours: bool
    side_by_side: float | None


class Accepted(TypedDict):
    """When a pool was accepted, and its worst value of each figure then."""

    finished: str
    values: dict[str, float]


class Parts(TypedDict, total=False):
    """What was measured."""

    rdma: list[Row]
    networks: list[Row]
    collective: Collective | None
    counters: dict[str, Counters]
    accepted: Accepted | None


class Coverage(TypedDict):
    """How many nodes and HCAs were looked at, and which figures were not measured or not judged."""

    nodes: dict[str, int]
    hcas: dict[str, int]
    not_measured: list[str]
    not_judged: list[str]
    summary: str


class Run(TypedDict):
    """Which run of a validation a report is of: the Job's uid, its mode, and when it ended, in ISO 8601."""

    run: str
    mode: str
    finished: str


class Report(Parts, Run):
    """The report of one run."""

    schema_version: int
    pool: str
    vm_size: str
    verdict: str
    coverage: Coverage
    checks: list[Check]
    thresholds: Thresholds
    nodes: dict[str, Facts]


def report_in(config_map: Mapping[str, Any]) -> Report | None:
    """The report that a validation has left in a ConfigMap; None where there is none that can be read."""
    texts = texts_of(config_map)
    report: Report | None = object_in(texts.get(REPORT_KEY) or texts.get(PLAIN_REPORT_KEY))
    return report


def packed_report(report: Report | None) -> str:
    """A report as the stack keeps it; empty for none.

    Small parts first: gzip finds what was there before within 32 KiB.
    """
    parts = sorted((report or {}).items(), key=lambda part: len(json.dumps(part[1])))
    return compressed(json.dumps(dict(parts), separators=(",", ":"))) if report else ""


def kept_report(kept: str | None) -> Report | None:
    """The report that the stack has kept; None without one."""
    report: Report | None = object_in(decompressed(kept) if kept else None)
    return report


def build_report(
    run: Run, facts_by_node: FactsByNode, checks: Sequence[Check], expected: Expectations, parts: Parts
) -> Report:
    """The report of a run: ``parts`` is what was measured."""
    found: Parts = {"rdma": [], "networks": [], "collective": None, "counters": {}, "accepted": None, **parts}
    return {
        "schema_version": SCHEMA_VERSION,
        "pool": expected["pool"],
        "vm_size": expected["vm_size"],
        **run,
        "verdict": verdict_of(checks),
        "coverage": coverage(facts_by_node, checks, expected),
        "checks": list(checks),
        "thresholds": expected["thresholds"],
        **found,
        "nodes": {node: facts_by_node[node] for node in sorted(facts_by_node)},
    }


def coverage(facts_by_node: FactsByNode, checks: Sequence[Check], expected: Expectations) -> Coverage:
    """The coverage of a run, as numbers and as one line."""
    hcas = sum(len(facts["hcas"]) for facts in facts_by_node.values())
    all_nodes = expected.get("pool_nodes", expected["node_count"])
    all_hcas = all_nodes * expected["hcas"]["count"]
    not_measured, not_judged = (_named(checks, verdict) for verdict in ("not measured", "not judged"))
    summary = f"{len(facts_by_node)} of {all_nodes} nodes, {hcas} of {all_hcas} HCAs"
    if expected["node_count"] == 1:
        summary += "; nothing between machines, which takes two"
    if not_measured:
        summary += f"; {', '.join(not_measured)}: not measured"
    if not_judged:
        summary += f"; {', '.join(not_judged)}: measured, not judged"
    return {
        "nodes": {"looked_at": len(facts_by_node), "expected": all_nodes},
        "hcas": {"looked_at": hcas, "expected": all_hcas},
        "not_measured": not_measured,
        "not_judged": not_judged,
        "summary": summary,
    }


def _named(checks: Sequence[Check], verdict: str) -> list[str]:
    return list(dict.fromkeys(check["check"] for check in checks if check["verdict"] == verdict))


def unmeasured_report(expected: Expectations, *, mode: str) -> Report:
    """The report of a pool that was not looked at: everything is ``not measured``."""
    report = build_report({"run": "", "mode": mode, "finished": ""}, {}, [], expected, {})
    everything = ["nodes", "HCAs", *expected["figures"], *expected["not_measured"]]
    report["coverage"]["not_measured"] = everything
    report["coverage"]["summary"] += f"; {', '.join(everything)}: not measured"
    return report


def headline(report: Report) -> str:
    """Pool, verdict, when it was found, and coverage in one line."""
    when = f" on {report['finished']}" if report.get("finished") else ""
    return f"pool {report['pool']}: {report['verdict']}{when} ({report['coverage']['summary']})"


def message_of(report: Report) -> str:
    """The headline, and a line for everything that did not go well."""
    return "\n".join([headline(report), *lines_of(report["checks"])])


ACCEPTED_KEY = "accepted.json"
"""Key of the report's ConfigMap under which the accepted values lie: finished, values (figure to number)."""
_TOLERANCE = 0.05
"""Two runs on the same sound machines differ by less: the guide's two figures of one table differ by 0.5 % (187.22 and
187.05 GB/s), those of two HCAs by 0.4 % (196.55 and 197.48 Gb/s)."""


def worst_values(parts: Parts, checks: Sequence[Check], thresholds: Thresholds) -> dict[str, float]:
    """The worst value of each figure of a run."""
    found: dict[str, list[float]] = {}
    for row in (*parts["rdma"], *parts["networks"]):
        if row["value"] is not None:
            found.setdefault(row["figure"], []).append(row["value"])
    for check in checks:
        if check["check"] == "all-reduce" and isinstance(check["measured"], (int, float)):
            found.setdefault("all-reduce", []).append(float(check["measured"]))
    return {
        figure: max(values) if less_is_better(figure, thresholds) else min(values) for figure, values in found.items()
    }


def compare(accepted: Accepted | None, values: Mapping[str, float], thresholds: Thresholds) -> list[Check]:
    """A warning for every figure that is far worse than it was when the pool was accepted; nothing without that."""
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
    """What was accepted before, or None where that cannot be read."""
    found = object_in(text)
    if found is None or not isinstance(found.get("values"), dict):
        return None
    return {"finished": found["finished"], "values": found["values"]}
