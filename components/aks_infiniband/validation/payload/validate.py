"""One pod of the validation: it looks at its node, informs the others, measures with them, and (index 0) judges the
pool.

Every pod stays until all is over: as long as it runs, its node is taken, so no two pods see the same node.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone

from .collective import measuring as collective
from .collective import nvlink
from .collective.judge import judge_collective
from .gpus import measuring as gpus
from .gpus.judge import judge_gpus
from .gpus.others import excused
from .look.counters import Counters, growth, judge_counters
from .look.gathering import gather
from .look.judge import judge_pool
from .look.judge_nvlink import domains_of
from .look.node import Facts, FactsByNode
from .look.port_rate import with_found_rate
from .pairs import measuring as pairs
from .pairs.judge import judge_pairs
from .pairs.rounds import LEAST_NODES
from .pod.arguments import parse
from .pod.member import NotYetError, Pod
from .pod.worker import Worker
from .programs.clients import Limits
from .rdma import measuring as rdma
from .rdma.judge import judge_contention, judge_coverage, judge_rdma, unmeasured
from .rdma.narrowing import rails_of
from .report.acceptance import ACCEPTED_KEY, accepted_of, compare, worst_values
from .report.document import Parts, Report, Run, build_report, message_of
from .report.kept import PLAIN_REPORT_KEY, REPORT_KEY, evidence_of
from .say.checks import Check, fails_update, not_measured
from .say.expectations import Expectations
from .say.spreads import certain
from .talk.api import ApiError
from .talk.boards import stale_keys
from .talk.rendezvous import Lead, follow
from .talk.steps import Entry
from .talk.termination import EXIT_DONE, EXIT_RETRY, EXIT_VERDICT, finish
from .talk.time_left import Time
from .tcp import measuring as tcp
from .tcp.judge import judge_networks
from .tcp.tools import figures

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
    outcome.parts["rdma"] = rdma.rows(measured)
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
            outcome.parts["pairs"] = pair_figures = pairs.measure(lead, plan, pairs_plan)
            outcome.checks += judge_pairs(pair_figures, pairs_plan, nodes)
    outcome.checks = certain(excused(outcome.checks, outcome.parts.get("gpus", [])))
    after: Mapping[str, Counters | None] = lead.step({"counters": True})
    grown = {node: growth(facts[node]["counters"], after.get(node) or {}) for node in nodes}
    outcome.parts["counters"] = grown
    silent = () if time.is_left else [node for node in nodes if node not in after]
    outcome.checks += judge_counters(grown, expected["error_counters"], silent)
    return outcome


class Validation:
    """One pod's part in the validation of a pool."""

    def __init__(self, arguments: argparse.Namespace, environment: Mapping[str, str]) -> None:
        """Raises KeyError and ValueError for a pod that is not one of such a Job."""
        self._arguments = arguments
        self._pod = Pod(arguments, environment)
        self._expected = self._pod.expected
        self._evidence = ""

    def carry_out(self) -> tuple[int, str]:
        """Do this pod's part; returns the exit code and the message."""
        facts = self._pod.facts()
        entry = self._pod.entry(facts)
        self._pod.publish(facts)
        worker = self._pod.worker()
        try:
            if self._pod.me.rank > 0:
                return self._follow(worker, entry)
            self._pod.read_all()
            return self._lead(worker, entry)
        finally:
            worker.stop()

    def _follow(self, worker: Worker, entry: Entry) -> tuple[int, str]:
        """Do the steps of the pod of index 0."""
        arguments = self._arguments
        over = follow(
            self._pod.board,
            entry,
            worker.carry,
            poll_seconds=self._pod.poll_seconds,
            timeout_seconds=arguments.timeout_seconds + arguments.measure_seconds + arguments.linger_seconds,
        )
        state = "and everything is measured" if over else "and index 0 has not said that it is over"
        return EXIT_DONE, f"node {self._pod.me.node} has reported, {state}; index 0 judges"

    def _lead(self, worker: Worker, entry: Entry) -> tuple[int, str]:
        """Wait for all pods, have them measure, judge, and write the report before any pod ends."""
        arguments, node_count = self._arguments, self._expected["node_count"]
        facts = self._gather(arguments.timeout_seconds)
        if len(facts) < node_count and arguments.linger_seconds:
            print(message_of(self._leave_report(facts, judge_pool(facts, self._expected), None)), flush=True)
            facts = self._gather(arguments.linger_seconds)
        self._expected = with_found_rate(self._expected, (hca for seen in facts.values() for hca in seen["hcas"]))
        lead = self._pod.leading(worker.carry, entry, node_count)
        checks = judge_pool(facts, self._expected)
        if obstacle(checks, node_count) is None and lead.assemble():
            outcome = measure(lead, facts, self._expected, checks, limits=self._pod.limits)
        else:
            outcome = skipped(checks, self._expected)
        report = self._leave_report(facts, checks, outcome)
        lead.end()
        failed = fails_update(report["checks"]) and arguments.mode == "enforce"
        return (EXIT_VERDICT if failed else EXIT_DONE), f"{self._evidence}\n{message_of(report)}"

    def _gather(self, timeout_seconds: float) -> dict[str, Facts]:
        """The facts of all nodes, or, if time is up, of those that have reported."""
        return gather(
            self._pod.read,
            self._pod.me.run,
            self._expected["node_count"],
            poll_seconds=self._pod.poll_seconds,
            timeout_seconds=timeout_seconds,
        )

    def _leave_report(self, facts: FactsByNode, checks: Sequence[Check], outcome: Outcome | None) -> Report:
        """Write the report. At the end, clear away what other runs have left."""
        boards = self._pod.read()
        thresholds, now = self._expected["thresholds"], datetime.now(timezone.utc).isoformat(timespec="seconds")
        every: list[Check] = [*checks, *(outcome.checks if outcome else [])]
        parts: Parts = outcome.parts if outcome else {}
        values = worst_values(parts, every, thresholds) if outcome else {}
        accepted = accepted_of(boards[0].get(ACCEPTED_KEY))
        run: Run = {"run": self._pod.me.run, "mode": self._arguments.mode, "finished": now}
        every += compare(accepted, values, thresholds)
        report = build_report(run, facts, every, self._expected, {**parts, "accepted": accepted})
        self._evidence = evidence_of(report)
        changes: dict[str, str | None] = {REPORT_KEY: json.dumps(report)}
        if values and report["verdict"] == "pass":
            changes[ACCEPTED_KEY] = json.dumps({"finished": now, "values": values})
        changes.update(dict.fromkeys({PLAIN_REPORT_KEY} & boards[0].keys()))
        self._pod.leave(changes, [stale_keys(left, self._pod.me.run) if outcome else [] for left in boards])
        return report


def main(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run with the command line's arguments; returns the exit code."""
    arguments = parse(argv)
    try:
        code, message = Validation(arguments, environment).carry_out()
    except Exception as error:
        final = isinstance(error, ApiError) and error.final
        code = EXIT_VERDICT if final else EXIT_RETRY
        message = f"the validation could not be made: {type(error).__name__}: {error}"
        if not isinstance(error, (ApiError, OSError, NotYetError)):
            print(repr(error), file=sys.stderr)
    return finish(code, message, arguments.termination_log)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
