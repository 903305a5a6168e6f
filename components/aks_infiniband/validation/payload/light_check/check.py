"""One pod of the scheduled check: it looks at its idle node, and with those on other idle nodes measures RDMA writes.

The scheduler gives it a node of which it can have every RDMA device and GPU, so the node is idle. The first of the pods
that have come leads. None waits for those that found no idle node. The pod on a node reports the findings for it: the
API server takes nothing about a node from a pod that runs on another (light_check/documents.py).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import NamedTuple

from ..look.counters import Counters, judge_counters
from ..look.gathering import entries_of
from ..look.hcas import judge_hcas, judge_verbs
from ..look.identity import UNKNOWN, identity_of
from ..look.missing import missing_nodes
from ..look.node import FactsByNode
from ..look.port_rate import with_found_rate
from ..pod.arguments import parse
from ..pod.member import Pod
from ..rdma import measuring as rdma
from ..rdma.judge import judge_rdma
from ..rdma.measuring import rows
from ..rdma.narrowing import rails_of
from ..report.standing import LIGHT_CHECK, RECORD, RECORD_KEY, Held, Measurement, Run, held_in
from ..say.checks import Check, not_measured
from ..talk.api import ApiError, Object
from ..talk.boards import stale_keys
from ..talk.rendezvous import Lead, follow
from ..talk.steps import Carry, Entry, Results, Said, Step
from ..talk.steps import Members as Pods
from ..talk.termination import EXIT_DONE, EXIT_RETRY, EXIT_VERDICT, finish
from ..talk.time_left import Time
from .state import (
    KEY,
    SCHEMA_VERSION,
    Members,
    NodeState,
    Seen,
    State,
    condition_of,
    errors_since,
    event_of,
    kept_in,
    said_of,
    state_of,
    states_in,
    with_held,
)

_KIND = "write-bandwidth"
_FIGURE = "rdma-write-bandwidth"
_NOT_FOUND = 404
_TELL_SHARE = 4
"""The pods have this part of the time for measurements, once more, to report the findings on their nodes."""


class Measured(NamedTuple):
    """The checks of a run, bandwidth in Gb/s by node and device, and error counters by node at the end."""

    checks: list[Check]
    bandwidth: Mapping[str, Mapping[str, float]]
    counters: Mapping[str, Counters | None]


class LightCheck:
    """One pod's part in a run."""

    def __init__(self, arguments: argparse.Namespace, environment: Mapping[str, str]) -> None:
        """Raises KeyError and ValueError for a pod that is not one of such a Job."""
        self.arguments = arguments
        self.pod = Pod(arguments, environment)
        self.board, self.expected = self.pod.board, self.pod.expected

    def carry_out(self) -> tuple[int, str]:
        """Do it; returns the exit code and the message."""
        facts = self.pod.facts()
        entry = self.pod.entry(facts)
        self.pod.publish(facts)
        self.board.enter(entry)
        worker = self.pod.worker()

        def carry(step: Step, pods: Pods) -> Results:
            if "tell" in step:
                return self._tell(step["tell"].get(self.pod.me.node))
            return worker.carry(step, pods)

        try:
            return self.lead(carry, entry) if self._leads() else self._follow(carry, entry)
        finally:
            worker.stop()

    def _leads(self) -> bool:
        """True if this pod is the first of those that are there, once all are there or the time to come is over.

        A pod that is not the first in its own ConfigMap reads no other.
        """
        if min(self.board.entries()) < self.pod.me.rank:
            return False
        self.pod.read_all()
        give_up = time.monotonic() + self.arguments.timeout_seconds
        while self.board.planned() is None:
            come = self.board.entries()
            if min(come) < self.pod.me.rank:
                return False
            if len(come) >= self.expected["node_count"] or time.monotonic() >= give_up:
                return True
            time.sleep(self.pod.poll_seconds)
        return False

    def _follow(self, carry: Carry, entry: Entry) -> tuple[int, str]:
        measuring = self.arguments.measure_seconds * (1 + 1 / _TELL_SHARE)
        seconds = 2 * self.arguments.timeout_seconds + measuring  # the first may have come last
        over = follow(self.board, entry, carry, poll_seconds=self.pod.poll_seconds, timeout_seconds=seconds)
        return (EXIT_DONE, "another pod has judged") if over else (EXIT_VERDICT, "the pod that leads has gone")

    def lead(self, carry: Carry, entry: Entry) -> tuple[int, str]:
        """Measure, judge, and leave what was found before any pod ends."""
        lead = self.pod.leading(carry, entry, len(self.board.entries()))
        lead.assemble()
        boards = self.pod.read()
        known = entries_of(boards, self.pod.me.run)
        self.expected = with_found_rate(self.expected, (hca for facts in known.values() for hca in facts["hcas"]))
        state = self._state(boards[0].get(KEY), known, self._measure(lead, known))
        self.pod.leave({KEY: json.dumps(state)}, [stale_keys(left, self.pod.me.run) for left in boards])
        lead.extend(self.arguments.measure_seconds / _TELL_SHARE)
        told = lead.step({"tell": {node: said_of(state["nodes"][node]) for node in known}})
        lead.end()
        gone = [f"not told, for a workload took the node: {node}" for node in known if node not in told]
        bad = [f"{node}: {state['nodes'][node]['message']}" for node in known if not state["nodes"][node]["healthy"]]
        looked = f"pool {state['pool']}: {len(known)} of {self.expected['node_count']} nodes were idle"
        return EXIT_DONE, "\n".join(
            [f"{looked}, {len(bad)} of them not healthy", *_lacks(state["members"]), *bad, *gone]
        )

    def _measure(self, lead: Lead, facts: FactsByNode) -> Measured:
        nodes, whole = list(lead.members), True

        def do_step(step: Step) -> Mapping[str, Results]:
            nonlocal whole
            answers = lead.step(step)
            whole = whole and set(answers) == set(nodes)
            return answers

        checks: list[Check] = []
        bandwidth: dict[str, dict[str, float]] = {}
        if len(nodes) > 1:
            measured = rdma.measure(
                do_step,
                rails_of(lead.members),
                self.expected["thresholds"],
                tries=self.expected["tries"],
                time=Time(lambda: lead.seconds_left, self.pod.limits.step_seconds),
                groups=((_KIND,),),
            )
            if whole and list(lead.members) == nodes:
                every = judge_rdma(measured, self.expected["thresholds"], facts)
                checks = [check for check in every if check["check"] == _FIGURE]
                for row in rows(measured):
                    if row["figure"] == _FIGURE and row["value"] is not None:
                        bandwidth.setdefault(row["node"], {})[row["device"]] = row["value"]
            else:
                checks = [not_measured(_FIGURE, "a workload took one of the nodes, or a pod did not answer in time")]
        return Measured(checks, bandwidth, lead.step({"counters": True}))

    def _state(self, last: str | None, known: FactsByNode, measured: Measured) -> State:
        """The report of this run, and what earlier runs said of nodes that still exist. last: the report before."""
        nodes = {node["metadata"]["name"]: node for node in self.pod.api.nodes(self.arguments.selector)}
        before, left = states_in(last)
        expected, now = self.expected["node_count"], datetime.now(timezone.utc)
        _, gone = missing_nodes(expected, nodes, {*before, *left})
        seen = {node: self._seen(node, nodes.get(node), known, measured, before) for node in known}
        checks = [
            *measured.checks,
            *judge_counters({node: each.errors for node, each in seen.items()}, self.expected["error_counters"]),
        ]
        for node, facts in known.items():
            checks += [*judge_hcas(node, facts, self.expected), judge_verbs(node, facts)]
        run: Run = {"at": now.isoformat(timespec="seconds"), "by": LIGHT_CHECK, "pool": self.expected["pool"]}
        states = {node: state_of(node, each, checks, run, before.get(node)) for node, each in seen.items()}
        held = self._held({node: state["measurement"] for node, state in states.items()}, nodes)
        states = {node: with_held(state, held.get(node, ())) for node, state in states.items()}
        return {
            "schema_version": SCHEMA_VERSION,
            "pool": self.expected["pool"],
            "run": self.pod.me.run,
            "finished": int(now.timestamp()),
            "members": {"expected": expected, "present": len(nodes), "names": sorted(nodes), "gone": gone},
            "nodes": {**{node: state for node, state in before.items() if node in nodes}, **states},
            "checks": checks,
        }

    def _seen(
        self, name: str, node: Object | None, known: FactsByNode, measured: Measured, before: Mapping[str, NodeState]
    ) -> Seen:
        facts = known[name]
        counters = measured.counters.get(name) or facts["counters"]
        errors = errors_since(before[name]["counters"] if name in before else {}, facts["counters"], counters)
        return Seen(facts, counters, errors, measured.bandwidth.get(name, {}), identity_of(node) if node else UNKNOWN)

    def _held(self, measurements: Mapping[str, Measurement], nodes: Mapping[str, Object]) -> Mapping[str, list[Held]]:
        """By node, what the record of machines holds against it. If the record cannot be read, a node whose condition
        says that it fell short keeps that.
        """
        try:
            texts = self.pod.api.config_map_data(self.arguments.namespace, RECORD)
        except ApiError as error:
            if error.status != _NOT_FOUND:
                raise
            texts = {}
        held = held_in(texts.get(RECORD_KEY), measurements)
        return {name: kept_in(nodes[name]) for name in measurements if name in nodes} if held is None else held

    def _tell(self, said: Said | None) -> None:
        """Set the condition of this pod's own node, and create an Event if one is due.

        said: None for a pod that came too late to be looked at.
        """
        if said is None:
            return
        name = self.pod.me.node
        node = self.pod.api.node(name)
        event = event_of(node, said)
        self.pod.api.set_node_condition(name, condition_of(node, said))
        if event is not None:
            self.pod.api.create_event(event)


def _lacks(members: Members) -> list[str]:
    """A line for the nodes that the pool lacks; none if it has all."""
    missing = members["expected"] - members["present"]
    names = f": {', '.join(members['gone'])}" if members["gone"] else ""
    return [f"{missing} of {members['expected']} nodes missing{names}"] if missing > 0 else []


def main(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run with the command line's arguments; returns the exit code."""
    arguments = parse(argv)
    try:
        code, message = LightCheck(arguments, environment).carry_out()
    except (ApiError, OSError) as error:
        code, message = EXIT_RETRY, f"the check could not be made: {type(error).__name__}: {error}"
    return finish(code, message, arguments.termination_log)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
