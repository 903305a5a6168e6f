"""The order in which a pool is measured, and what keeps it from being measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .collective import nvlink
from .collective import run as collective
from .collective.judge import judge_collective
from .gpus import run as gpus
from .gpus.judge import judge_gpus
from .gpus.others import excused
from .look.counters import Counters, growth, judge_counters
from .look.judge_nvlink import domains_of
from .look.node import FactsByNode
from .pairs import run as pairs
from .pairs.judge import judge_pairs
from .pairs.rounds import LEAST_NODES
from .programs.clients import Limits
from .rdma import run as rdma
from .rdma.judge import judge_contention, judge_coverage, judge_rdma, unmeasured
from .rdma.measured import rows
from .rdma.narrowing import rails_of
from .report.document import Parts
from .say.checks import Check, not_measured
from .say.expectations import Expectations
from .say.spreads import certain
from .talk.rendezvous import Lead
from .talk.time_left import Time
from .tcp import run as tcp
from .tcp.judge import judge_networks
from .tcp.tool import figures

_PREVENTS = {
    "nodes-reported": "not every node of the pool takes part",
    "partition-keys": "nodes on different partitions cannot reach each other",
    "placement-group": "machines in different placement groups cannot reach each other",
    "memlock": "memory cannot be registered without IPC_LOCK",
}
"""The checks after whose failure no measurement can work, and why."""


class Outcome:
    """The measurements, as the report has them, and their checks."""

    def __init__(self) -> None:
        """Nothing has been measured yet."""
        self.checks: list[Check] = []
        self.parts: Parts = {"rdma": [], "networks": [], "collective": None, "counters": {}}


def obstacle(checks: Sequence[Check], node_count: int) -> tuple[str, str | None] | None:
    """Why a pool cannot be measured, in words and as a cause. The cause is None if that is by design."""
    if node_count < 2:
        return "a pool of one node does not have a pair to measure", None
    for check in checks:
        if check["verdict"] == "fail" and check["check"] in _PREVENTS and check["device"] is None:
            why = _PREVENTS[check["check"]]
            return why, why
    return None


def skipped(checks: Sequence[Check], expected: Expectations) -> Outcome:
    """The outcome of a pool that cannot be measured."""
    outcome = Outcome()
    what = obstacle(checks, expected["node_count"])
    cause = what[1] if what else "the pods did not find each other in time"
    outcome.checks = unmeasured(cause)
    for interface in expected["interfaces"]:
        outcome.checks += [not_measured(figure, cause, device=interface) for figure in figures(interface)]
    if expected["collective"]:
        outcome.checks.append(not_measured("all-reduce", cause))
    if expected["nvlink"]:
        outcome.checks.append(not_measured(nvlink.FIGURE, cause))
    if expected.get("gpus"):
        outcome.checks.append(not_measured("gpu-rate", cause))
    return outcome


def measure(
    lead: Lead, facts: FactsByNode, expected: Expectations, checks: Sequence[Check], *, limits: Limits
) -> Outcome:
    """Have the assembled pods measure everything that belongs to the pool.

    checks: those that were made before; some measurements are not made because of them. limits: those of the pods'
    tools.
    """
    outcome = Outcome()
    nodes, thresholds, tries = list(lead.members), expected["thresholds"], expected["tries"]
    time = Time(lambda: lead.seconds_left, limits.step_seconds)
    measured = rdma.measure(lead.step, rails_of(lead.members), thresholds, tries=tries, time=time)
    outcome.parts["rdma"] = rows(measured)
    outcome.checks += [*judge_rdma(measured, thresholds, facts), judge_coverage(measured, facts)]
    outcome.checks += judge_contention(measured, thresholds)
    if expected["interfaces"]:
        interfaces = [*expected["interfaces"], "eth0"]
        outcome.parts["networks"] = tcp.measure(lead.step, nodes, interfaces, thresholds, tries=tries, time=time)
        outcome.checks += judge_networks(outcome.parts["networks"], thresholds)
    if load := expected.get("gpus"):
        found_of_gpus = gpus.measure(lead, load, tries=tries)
        outcome.parts["gpus"] = found_of_gpus[-1] if found_of_gpus else []
        outcome.checks += judge_gpus(found_of_gpus, load, nodes)
    plan = expected["collective"]
    if plan and any(check["check"] == "accelerator-devices" and check["verdict"] == "fail" for check in checks):
        cause = "not every GPU is there, and the ranks of those that are would wait for it: see accelerator-devices"
        outcome.checks.append(not_measured("collective", cause))
    elif plan:
        outcome.parts["collective"] = runs = collective.measure(lead, plan, tries=tries)
        outcome.checks += judge_collective(runs, plan)
        if expected["nvlink"]:
            runs["nvlink"] = nvlink.measure(lead, plan, domains_of(facts))
            outcome.checks += nvlink.judge(runs["nvlink"], plan)
        if (pairs_plan := plan.get("pairs")) and len(nodes) >= LEAST_NODES:
            outcome.parts["pairs"] = found = pairs.measure(lead, plan, pairs_plan)
            outcome.checks += judge_pairs(found, pairs_plan, nodes)
    outcome.checks = certain(excused(outcome.checks, outcome.parts.get("gpus", [])))
    after: Mapping[str, Counters | None] = lead.step({"counters": True})
    grown = {node: growth(facts[node]["counters"], after.get(node) or {}) for node in nodes}
    outcome.parts["counters"] = grown
    silent = () if time.is_left else [node for node in nodes if node not in after]
    outcome.checks += judge_counters(grown, expected["error_counters"], silent)
    return outcome
