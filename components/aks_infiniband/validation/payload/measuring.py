"""The measurement of a pool, led by the pod of index 0: what is measured, in which order, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from .collective import run as collective
from .collective.judge import JUDGED, as_try, falls_short, judge_collective
from .collective.results import Collective, NodeRun, Run, merged
from .look.counters import Counters, growth, judge_counters, read_counters
from .look.facts import FactsByNode
from .look.kernel import near_cpus
from .programs.clients import Answer, Limits
from .programs.process import Running
from .rdma import run as rdma
from .rdma.judge import judge_contention, judge_coverage, judge_rdma, unmeasured
from .rdma.narrowing import rails_of
from .rdma.rounds import PORTS, Place, carry_out
from .report.document import Parts
from .say.checks import Check, not_measured
from .say.expectations import CollectivePlan, Expectations
from .talk.rendezvous import Entry, Lead, Members, Results, Step
from .tcp import run as networks

_PREVENTS = {
    "nodes-reported": "not every node of the pool takes part",
    "partition-keys": "nodes on different partitions have no path between them",
    "placement-group": "machines in different placement groups have no path between them",
    "memlock": "memory cannot be registered without IPC_LOCK",
}
"""Failed checks after which no measurement can work, and why."""


class Outcome:
    """What was measured, as it goes into the report, and the checks of it."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.checks: list[Check] = []
        self.parts: Parts = {"rdma": [], "networks": [], "collective": None, "counters": {}}


def obstacle(checks: Sequence[Check], node_count: int) -> tuple[str, str | None] | None:
    """Why a pool cannot be measured, in words and as a cause; the cause is None where that is by design."""
    if node_count < 2:
        return "a pool of one node has no pair to measure", None
    for check in checks:
        if check["verdict"] == "fail" and check["check"] in _PREVENTS and check["device"] is None:
            why = _PREVENTS[check["check"]]
            return why, why
    return None


def skipped(checks: Sequence[Check], expected: Expectations) -> Outcome:
    """The outcome of a pool that cannot be measured."""
    found = Outcome()
    what = obstacle(checks, expected["node_count"])
    cause = what[1] if what else "the pods did not find each other in time"
    found.checks = unmeasured(cause)
    for interface in expected["interfaces"]:
        found.checks += [not_measured(figure, cause, device=interface) for figure in networks.figures(interface)]
    if expected["collective"]:
        found.checks.append(not_measured("all-reduce", cause))
    return found


def measure(lead: Lead, facts: FactsByNode, expected: Expectations, checks: Sequence[Check]) -> Outcome:
    """Have the assembled pods measure everything that belongs to the pool; ``checks`` are those made before."""
    found = Outcome()
    nodes = list(lead.members)
    rails = rails_of(lead.members)
    thresholds, tries = expected["thresholds"], expected["tries"]
    measured = rdma.measure(lead.step, rails, thresholds, tries=tries, seconds_left=lambda: lead.seconds_left)
    found.parts["rdma"] = rdma.rows(measured)
    found.checks += [*judge_rdma(measured, thresholds, facts), judge_coverage(measured, facts)]
    found.checks += judge_contention(measured, thresholds)
    if expected["interfaces"]:
        interfaces = [*expected["interfaces"], "eth0"]
        rows = networks.measure(lead.step, nodes, interfaces, thresholds, tries=tries)
        found.parts["networks"] = rows
        found.checks += networks.judge_networks(rows, thresholds)
    plan = expected["collective"]
    if plan and any(check["check"] == "accelerator-devices" and check["verdict"] == "fail" for check in checks):
        cause = "not every GPU is there, and the ranks of those that are would wait for it: see accelerator-devices"
        found.checks.append(not_measured("collective", cause))
    elif plan:
        runs = found.parts["collective"] = _collective(lead, plan, tries)
        found.checks += judge_collective(runs, plan)
    after: Mapping[str, Counters | None] = lead.step({"counters": True})
    grown = {node: growth(facts[node]["counters"], after.get(node) or {}) for node in nodes}
    found.parts["counters"] = grown
    found.checks += judge_counters(grown, expected["error_counters"])
    return found


def _collective(lead: Lead, plan: CollectivePlan, tries: int) -> Collective:
    """One run for each tuning: the last of its tries, each with a meeting of its own, with what all of them gave."""
    address = next(iter(lead.members.values()))["address"]
    runs: list[Run] = []
    for tuning in collective.TUNINGS:
        made = []
        for _ in range(tries):
            meeting = collective.meeting_point(plan["through"], address)
            step: Step = {"collective": tuning, "plan": plan, "meeting": meeting}
            entries = [entry for entry in lead.step(step).values() if entry]
            made.append(merged(entries, tuning=tuning, ranks_per_node=plan["ranks_per_node"]))
            again = made[-1]["failures"] or (tuning == JUDGED and falls_short(made[-1], plan))
            if not again or lead.time_is_up:
                break
        runs.append({**made[-1], "tries": [as_try(run, plan) for run in made]})
    return {"runs": runs, "line_gb_per_s": plan["line_gb_per_s"], "thresholds": plan["thresholds"]}


class Setting(NamedTuple):
    """Where a pod works: its node, the kernel's files, scratch space, its environment, and how long tools may take."""

    node: str
    sys: Path
    proc: Path
    counters: Path | None
    scratch: Path
    environment: Mapping[str, str]
    limits: Limits


class Worker:
    """Carries out steps; some leave servers running, which end with it."""

    def __init__(self, setting: Setting) -> None:
        """It has not carried out anything yet."""
        self._setting = setting
        self._servers: list[Running] = []

    def carry(self, step: Step, members: Members) -> Results:
        """Do this pod's part of a step; returns its results as JSON-able data."""
        if "kind" in step:
            setting = self._setting
            place = Place(setting.node, setting.proc, setting.limits, partial(near_cpus, setting.sys))
            return carry_out(step, members, rails_of(members), place)
        if "serve" in step:
            return self._serve(step["serve"], members)
        if "sockperf" in step:
            return self._ask(step, members)
        if "collective" in step:
            return self._collective(step, members)
        return read_counters(self._setting.counters)

    def stop(self) -> None:
        """End the servers that still run."""
        for server in self._servers:
            server.kill()
        self._servers = []

    def _serve(self, interfaces: Sequence[str], members: Members) -> list[str]:
        me = members[self._setting.node]
        self._servers += [
            Running(networks.server(me["networks"][interface], _port(me, interface)))
            for interface in interfaces
            if me["networks"].get(interface)
        ]
        return list(interfaces)

    def _ask(self, step: Step, members: Members) -> Answer | None:
        if self._setting.node not in step["nodes"]:
            return None
        names = list(members)
        peer = members[names[(names.index(self._setting.node) + 1) % len(names)]]
        interface = str(step["interface"])
        address = peer["networks"].get(interface)
        if not address:
            return {"values": None, "error": f"{peer['node']} has no address on {interface}"}
        server = networks.Server(interface, address, _port(peer, interface))
        return networks.ask(step["sockperf"], server, self._setting.limits, self._setting.proc)

    def _collective(self, step: Step, members: Members) -> NodeRun:
        names = list(members)
        plan = step["plan"]
        place = collective.Place(
            node=self._setting.node,
            node_rank=names.index(self._setting.node),
            node_count=len(names),
            ranks_per_node=plan["ranks_per_node"],
            meeting=step["meeting"],
            hcas=tuple(members[self._setting.node]["devices"]),
        )
        setting = self._setting
        return collective.measure(
            place, tuning=step["collective"], plan=plan, folder=setting.scratch, environment=setting.environment
        )


def _port(member: Entry, interface: str) -> int:
    """Where a pod serves on an interface: the last of its ports for eth0, those before it for net1, net2, …"""
    number = int("".join(filter(str.isdigit, interface)) or 0)
    return int(member["port"]) + PORTS - 1 - number
