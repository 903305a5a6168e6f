"""The measurement of a whole pool, as index 0 leads it: what is measured, in which order, and what is not and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import collective, networks, rdma
from .checks import Check, make_check
from .collective_judge import JUDGED, as_try, falls_short, judge_collective
from .counters import growth, judge_counters
from .following import Lead
from .rdma_judge import judge_rdma, unmeasured

_PREVENTS = {
    "nodes-reported": "not every node of the pool takes part",
    "partition-keys": "nodes on different partitions have no path between them",
    "memlock": "memory cannot be registered without IPC_LOCK",
}
"""Failed checks after which no tool would get anywhere, and why."""

Facts = Mapping[str, Mapping[str, Any]]


class Outcome:
    """What was measured, as it goes into the report, and the checks of it."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.checks: list[Check] = []
        self.parts: dict[str, Any] = {"rdma": [], "networks": [], "collective": None, "counters": {}}


def obstacle(checks: Sequence[Check], node_count: int) -> tuple[str, str | None] | None:
    """What keeps a pool from being measured, in words and as a cause; the cause is None where nobody meant to."""
    if node_count < 2:
        return "a pool of one node has no pair to measure", None
    for check in checks:
        if check["verdict"] == "fail" and check["check"] in _PREVENTS and check["device"] is None:
            why = _PREVENTS[check["check"]]
            return why, why
    return None


def skipped(checks: Sequence[Check], expected: Mapping[str, Any]) -> Outcome:
    """The outcome of a pool that cannot be measured."""
    found = Outcome()
    what = obstacle(checks, expected["node_count"])
    cause = what[1] if what else "the pods did not find each other in time"
    found.checks = unmeasured(cause)
    for interface in expected["interfaces"]:
        found.checks += [
            make_check(figure, "not measured", device=interface, expected=None, measured=None, cause=cause)
            for figure in networks.figures(interface)
        ]
    if expected["collective"]:
        found.checks.append(make_check("all-reduce", "not measured", expected=None, measured=None, cause=cause))
    return found


def measure(lead: Lead, facts: Facts, expected: Mapping[str, Any], checks: Sequence[Check]) -> Outcome:
    """Have the assembled pods measure everything that belongs to the pool; ``checks`` are those made before."""
    found = Outcome()
    nodes = list(lead.members)
    devices = {node: list(member["devices"]) for node, member in lead.members.items()}
    thresholds, tries = expected["thresholds"], expected["tries"]
    measured = rdma.measure(lead.step, nodes, devices, thresholds, tries=tries, time_is_up=lambda: lead.time_is_up)
    found.parts["rdma"] = rdma.rows(measured)
    found.checks += judge_rdma(measured, thresholds, facts)
    if expected["interfaces"]:
        interfaces = [*expected["interfaces"], "eth0"]
        rows = networks.measure(lead.step, nodes, interfaces, thresholds, tries=tries)
        found.parts["networks"] = rows
        found.checks += networks.judge_networks(rows, thresholds)
    if expected["collective"] and not _all_gpus(checks):
        cause = "not every GPU is there, and the ranks of those that are would wait for it: see accelerator-devices"
        found.checks.append(make_check("collective", "not measured", expected=None, measured=None, cause=cause))
    elif expected["collective"]:
        found.parts["collective"] = _collective(lead, expected["collective"], tries)
        found.checks += judge_collective(found.parts["collective"], expected["collective"])
    found.parts["counters"] = _counters(lead, facts)
    found.checks += judge_counters(found.parts["counters"])
    return found


def _all_gpus(checks: Sequence[Check]) -> bool:
    return not any(check["check"] == "accelerator-devices" and check["verdict"] == "fail" for check in checks)


def _counters(lead: Lead, facts: Facts) -> dict[str, Any]:
    after = lead.step({"counters": True})
    return {node: growth(facts[node]["counters"], answer) for node, answer in after.items() if answer is not None}


def _collective(lead: Lead, plan: Mapping[str, Any], tries: int) -> dict[str, Any]:
    """One run for each tuning: the last of its tries, each on a port of its own, with what all of them gave."""
    runs = []
    for tuning in collective.TUNINGS:
        made = []
        for _ in range(tries):
            step = {"collective": tuning, "plan": dict(plan), "port": collective.free_port()}
            entries = [entry for entry in lead.step(step).values() if entry]
            made.append(collective.merged(entries, tuning=tuning, ranks_per_node=plan["ranks_per_node"]))
            again = made[-1]["failures"] or (tuning == JUDGED and falls_short(made[-1], plan))
            if not again or lead.time_is_up:
                break
        runs.append({**made[-1], "tries": [as_try(run, plan) for run in made]})
    return {"runs": runs, "line_gb_per_s": plan["line_gb_per_s"], "thresholds": plan["thresholds"]}
