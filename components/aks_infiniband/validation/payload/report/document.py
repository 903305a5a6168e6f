"""Checks to a report: the document that a validation leaves in the cluster and in the stack's outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from ..collective.results import Collective
from ..gpus.results import NodeGpus
from ..look.counters import Counters
from ..look.node import Facts, FactsByNode
from ..pairs.judge import PairFigure
from ..say.checks import Check, verdict_of
from ..say.expectations import Expectations, Thresholds
from ..say.figures import Figure
from ..say.lines import lines_of

SCHEMA_VERSION = 2


class Accepted(TypedDict):
    """When a pool was accepted, and its worst value of each figure then."""

    finished: str
    values: dict[str, float]


class Parts(TypedDict, total=False):
    """The measurements."""

    rdma: list[Figure]
    networks: list[Figure]
    collective: Collective | None
    counters: dict[str, Counters]
    accepted: Accepted | None
    pairs: list[PairFigure]
    """The measurement of nodes in pairs. Only pools of three or more nodes have it."""
    gpus: list[NodeGpus]
    """The GPUs of each node under load. Pools whose GPUs are not NVIDIA's have none."""


class Coverage(TypedDict):
    """The numbers of nodes and HCAs that were looked at, and the figures that were not measured or not judged."""

    nodes: dict[str, int]
    hcas: dict[str, int]
    not_measured: list[str]
    not_judged: list[str]
    summary: str


class Run(TypedDict):
    """The run of a validation that a report is of: the Job's uid, its mode, and its end, in ISO 8601."""

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


def build_report(
    run: Run, facts_by_node: FactsByNode, checks: Sequence[Check], expected: Expectations, parts: Parts
) -> Report:
    """The report of a run. ``parts`` is what was measured."""
    whole: Parts = {"rdma": [], "networks": [], "collective": None, "counters": {}, "accepted": None, **parts}
    return {
        "schema_version": SCHEMA_VERSION,
        "pool": expected["pool"],
        "vm_size": expected["vm_size"],
        **run,
        "verdict": verdict_of(checks),
        "coverage": coverage(facts_by_node, checks, expected),
        "checks": list(checks),
        "thresholds": expected["thresholds"],
        **whole,
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
