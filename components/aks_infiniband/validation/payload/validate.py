"""One pod of the validation: looks at its node, tells the others, measures with them, and (index 0) judges the pool.

Every pod stays until all is over: as long as it runs, its node is taken, so no two pods see the same node.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from functools import partial
from itertools import chain, repeat

from . import measuring
from .await_nodes import pause_seconds
from .look.facts import Facts, FactsByNode, entry_key, gather, look
from .look.judge import judge_pool
from .look.port_rate import with_found_rate
from .measuring import Outcome, Setting, Worker
from .pod import EXIT_DONE, EXIT_RETRY, EXIT_VERDICT, Me, finish, parse, who_am_i
from .programs.clients import Limits
from .rdma.rounds import free_ports
from .report.document import (
    ACCEPTED_KEY,
    PLAIN_REPORT_KEY,
    REPORT_KEY,
    Parts,
    Report,
    Run,
    accepted_of,
    build_report,
    compare,
    evidence_of,
    message_of,
    worst_values,
)
from .say.checks import Check, fails_update
from .say.expectations import read_expectations
from .talk.api import Api, ApiError, compressed, decompressed, in_cluster_url
from .talk.boards import board_names, board_of, stale_keys
from .talk.rendezvous import PLAN_ANNOTATION, Board, Entry, Lead, follow

STEP_SECONDS = (0.5, 2.0)
"""The longest time between two looks for the next step: in a small pool, and in any."""
_SHARE = 12
"""The time for all measurements has room for this number of tools in a row; each usually takes a few seconds."""
_TOOL_SECONDS = (5.0, 60.0)
_CONNECT_SECONDS = 20.0
"""Within which every pod begins a step that one of them has begun: it looks every two seconds or more often."""
_REPLACED = 3
"""This number of pods may start before Multus is on their node; then it is a verdict."""


class NotYetError(Exception):
    """Work that this pod cannot do, and a new one can."""


class Validation:
    """One pod's part in a run."""

    def __init__(self, arguments: argparse.Namespace, environment: Mapping[str, str]) -> None:
        """Raises KeyError and ValueError for a pod that is not one of such a Job."""
        self.arguments, self.environment = arguments, environment
        self.me: Me = who_am_i(environment)
        self.expected = read_expectations(arguments.expectations, arguments.common)
        self.api = Api(arguments.api or in_cluster_url(environment), token=arguments.token, ca=arguments.ca)
        api, where = self.api, (arguments.namespace, arguments.report)
        own = board_of(arguments.report, self.me.rank)
        self.boards = [own]
        self.merge = partial(api.merge_config_map_data, arguments.namespace, own)
        self.board = Board(
            self.me.run,
            self.read,
            self.merge,
            read_plan=lambda: decompressed(api.annotation(*where, PLAN_ANNOTATION) or ""),
            write_plan=lambda text: api.annotate(*where, PLAN_ANNOTATION, compressed(text)),
        )
        self.evidence = ""
        small, longest = STEP_SECONDS
        self.poll_seconds = min(arguments.poll_seconds, pause_seconds(small, self.expected["node_count"]), longest)

    def read(self) -> list[dict[str, str]]:
        """The data of each ConfigMap that this pod looks at."""
        return [self.api.config_map_data(self.arguments.namespace, board) for board in self.boards]

    def read_all(self) -> None:
        """Look at the ConfigMaps of all pods from now on (boards.py), as the one that leads does."""
        self.boards = board_names(self.arguments.report, self.expected["node_count"])

    def leave(self, changes: Mapping[str, str | None], stale: Iterable[Iterable[str]]) -> None:
        """Change keys of the first ConfigMap, and remove the stale ones of each."""
        for board, keys, others in zip(self.boards, stale, chain([changes], repeat({}))):
            if found := {**others, **dict.fromkeys(keys)}:
                self.api.merge_config_map_data(self.arguments.namespace, board, found)

    def run(self) -> tuple[int, str]:
        """Do it; returns the exit code and the message."""
        facts = self.facts()
        entry = self.entry(facts)
        self.publish(facts)
        worker = self.worker()
        try:
            if self.me.rank > 0:
                return self.follow(worker, entry)
            self.read_all()
            return self.lead(worker, entry)
        finally:
            worker.stop()

    def worker(self) -> Worker:
        """What carries out this pod's part of the steps."""
        arguments = self.arguments
        seconds = min(max(arguments.measure_seconds / _SHARE, _TOOL_SECONDS[0]), _TOOL_SECONDS[1])
        limits = Limits(connect_seconds=min(seconds, _CONNECT_SECONDS), tool_seconds=seconds)
        places = arguments.sys, arguments.proc, arguments.counters, arguments.scratch
        return Worker(Setting(self.me.node, *places, self.environment, limits))

    def facts(self) -> Facts:
        """Everything that this pod says of its node."""
        return look(self.arguments, self.expected, self.environment, lambda: self.api.node(self.me.node))

    def entry(self, facts: Facts) -> Entry:
        """What the others have to know of this pod. Raises NotYetError where its networks were not attached."""
        interfaces = facts["interfaces"]
        networks = {name: found["addresses"][0] for name, found in interfaces.items() if found["addresses"]}
        entries = self.board.entries()
        before = entries.get(self.me.rank)
        replaced = before is not None and before["pod"] != self.me.pod
        entry: Entry = {
            "rank": self.me.rank,
            "node": self.me.node,
            "pod": self.me.pod,
            "address": self.me.address,
            "port": free_ports(),
            "devices": {hca["device"]: hca["pci_address"] or hca["device"] for hca in facts["hcas"]},
            "inactive": [hca["device"] for hca in facts["hcas"] if hca["state"] != "ACTIVE"],
            "networks": {**networks, "eth0": self.me.address},
            "replaced": before["replaced"] + replaced if before else 0,
        }
        absent = [name for name in self.expected["interfaces"] if name not in interfaces]
        if absent and entry["replaced"] < _REPLACED:
            self.board.enter(entry)
            raise NotYetError(
                f"the pod has no {', '.join(absent)}: Multus was not on node {self.me.node} when the pod started"
            )
        return entry

    def publish(self, facts: Facts) -> None:
        """Leave the facts where index 0 finds them."""
        entry = {"run": self.me.run, "node": self.me.node, "index": self.me.rank, "facts": facts}
        self.merge({entry_key(self.me.node): json.dumps(entry)})

    def follow(self, worker: Worker, entry: Entry) -> tuple[int, str]:
        """Do what index 0 says."""
        arguments = self.arguments
        over = follow(
            self.board,
            entry,
            worker.carry,
            poll_seconds=self.poll_seconds,
            timeout_seconds=arguments.timeout_seconds + arguments.measure_seconds + arguments.linger_seconds,
        )
        state = "and everything is measured" if over else "and index 0 has not said that it is over"
        return EXIT_DONE, f"node {self.me.node} has reported, {state}; index 0 judges"

    def lead(self, worker: Worker, entry: Entry) -> tuple[int, str]:
        """Wait for all pods, have them measure, judge, and write the report before any pod ends."""
        arguments, node_count = self.arguments, self.expected["node_count"]
        found = self.gather(arguments.timeout_seconds)
        report = None
        if len(found) < node_count and arguments.linger_seconds:
            report = self.leave_report(found, judge_pool(found, self.expected), None)
            print(message_of(report), flush=True)
            found = self.gather(arguments.linger_seconds)
        self.expected = with_found_rate(self.expected, (hca for facts in found.values() for hca in facts["hcas"]))
        lead = self.leading(worker, entry, node_count)
        checks = judge_pool(found, self.expected)
        if measuring.obstacle(checks, node_count) is None and lead.assemble():
            outcome = measuring.measure(lead, found, self.expected, checks)
        else:
            outcome = measuring.skipped(checks, self.expected)
        report = self.leave_report(found, checks, outcome)
        lead.end()
        failed = fails_update(report["checks"]) and arguments.mode == "enforce"
        return (EXIT_VERDICT if failed else EXIT_DONE), f"{self.evidence}\n{message_of(report)}"

    def leading(self, worker: Worker, entry: Entry, node_count: int) -> Lead:
        """What has this number of pods measure."""
        return Lead(
            self.board,
            entry,
            worker.carry,
            node_count=node_count,
            poll_seconds=self.poll_seconds,
            timeout_seconds=self.arguments.measure_seconds,
        )

    def gather(self, timeout_seconds: float) -> dict[str, Facts]:
        """The facts of all nodes, or of those that are there when time is up."""
        return gather(
            self.read,
            self.me.run,
            self.expected["node_count"],
            poll_seconds=self.poll_seconds,
            timeout_seconds=timeout_seconds,
        )

    def leave_report(self, found: FactsByNode, checks: Sequence[Check], outcome: Outcome | None) -> Report:
        """Write the report, and when all is over clear away what other runs have left."""
        boards = self.read()
        thresholds, now = self.expected["thresholds"], datetime.now(timezone.utc).isoformat(timespec="seconds")
        every: list[Check] = [*checks, *(outcome.checks if outcome else [])]
        parts: Parts = outcome.parts if outcome else {}
        values = worst_values(parts, every, thresholds) if outcome else {}
        accepted = accepted_of(boards[0].get(ACCEPTED_KEY))
        run: Run = {"run": self.me.run, "mode": self.arguments.mode, "finished": now}
        every += compare(accepted, values, thresholds)
        report = build_report(run, found, every, self.expected, {**parts, "accepted": accepted})
        self.evidence = evidence_of(report)
        changes: dict[str, str | None] = {REPORT_KEY: json.dumps(report)}
        if values and report["verdict"] == "pass":
            changes[ACCEPTED_KEY] = json.dumps({"finished": now, "values": values})
        changes.update(dict.fromkeys({PLAIN_REPORT_KEY} & boards[0].keys()))
        self.leave(changes, [stale_keys(left, self.me.run) if outcome else [] for left in boards])
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
