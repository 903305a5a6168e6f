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

from . import measuring
from .look.gathering import gather
from .look.judge import judge_pool
from .look.node import Facts, FactsByNode
from .look.port_rate import with_found_rate
from .measuring import Outcome
from .pod.arguments import parse
from .pod.member import NotYetError, Pod
from .pod.worker import Worker
from .report.acceptance import ACCEPTED_KEY, accepted_of, compare, worst_values
from .report.document import Parts, Report, Run, build_report, message_of
from .report.kept import PLAIN_REPORT_KEY, REPORT_KEY, evidence_of
from .say.checks import Check, fails_update
from .talk.api import ApiError
from .talk.boards import stale_keys
from .talk.rendezvous import follow
from .talk.steps import Entry
from .talk.termination import EXIT_DONE, EXIT_RETRY, EXIT_VERDICT, finish


class Validation:
    """One pod's part in the validation of a pool."""

    def __init__(self, arguments: argparse.Namespace, environment: Mapping[str, str]) -> None:
        """Raises KeyError and ValueError for a pod that is not one of such a Job."""
        self._arguments = arguments
        self._pod = Pod(arguments, environment)
        self._expected = self._pod.expected
        self._evidence = ""

    def run(self) -> tuple[int, str]:
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
        if measuring.obstacle(checks, node_count) is None and lead.assemble():
            outcome = measuring.measure(lead, facts, self._expected, checks, limits=self._pod.limits)
        else:
            outcome = measuring.skipped(checks, self._expected)
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
        code, message = Validation(arguments, environment).run()
    except Exception as error:
        final = isinstance(error, ApiError) and error.final
        code = EXIT_VERDICT if final else EXIT_RETRY
        message = f"the validation could not be made: {type(error).__name__}: {error}"
        if not isinstance(error, (ApiError, OSError, NotYetError)):
            print(repr(error), file=sys.stderr)
    return finish(code, message, arguments.termination_log)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
