"""The all-reduce inside each NVLink domain of a pool, if NCCL takes NVLink between machines: measured and judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..say.checks import Check, fails, not_measured, passes
from ..say.expectations import CollectivePlan
from ..say.lines import shown_bytes
from ..talk.rendezvous import Lead
from ..talk.steps import Members, Step
from ..talk.time_left import TIME_IS_UP
from . import part
from .judge import judge_figure, judge_run, judged_size
from .nccl_log import NVLINK
from .part import meeting_point
from .results import NodeRun, Run, merged

TUNING = "nvlink"
FIGURE = "all-reduce-nvlink"
_TRANSPORT = "nvlink-transport"
_OTHER_WAY = (
    "NCCL did not take NVLink between the machines, without an error: it saw no fabric that is Completed on every GPU, "
    "or NCCL_MNNVL_ENABLE or NCCL_P2P_DISABLE keeps it from it: see nvlink-fabric"
)
_SLOW = (
    "the transport is NVLink, and it carries less than healthy machines do: a degraded link or switch of the rack; see "
    "`nvidia-smi nvlink -s` on its machines"
)


def measure(lead: Lead, plan: CollectivePlan, domains: Mapping[str, Sequence[str]]) -> list[Run]:
    """One run in each domain that has two nodes or more, all at the same time. domains: their nodes, by name."""
    groups = [list(nodes) for nodes in domains.values() if len(nodes) > 1]
    if not groups or lead.time_is_up:
        return []
    step: Step = {"nvlink_domains": groups, "meetings": [meeting_point() for _ in groups], "plan": plan}
    answers = lead.step(step)
    count, replaced = plan["ranks_per_node"], lead.replaced
    return [
        merged(
            [entry for node in nodes if (entry := answers.get(node))],
            tuning=TUNING,
            ranks_per_node=count,
            addresses={node: lead.members[node]["address"] for node in nodes},
            replaced=replaced,
        )
        for nodes in groups
    ]


def carry_out(
    step: Step, members: Members, node: str, *, folder: Path, environment: Mapping[str, str]
) -> NodeRun | None:
    """Do this node's part; None if it shares its domain with no other."""
    for nodes, meeting in zip(step["nvlink_domains"], step["meetings"]):
        if node in nodes:
            own: Step = {"collective": TUNING, "plan": step["plan"], "meeting": meeting}
            there = {name: members[name] for name in nodes}
            return part.carry_out(own, there, node, folder=folder, environment=environment)
    return None


def judge(runs: Sequence[Run], plan: CollectivePlan) -> list[Check]:
    """The checks of all domains."""
    if not runs:
        return [not_measured(FIGURE, TIME_IS_UP)]
    return [check for run in runs for check in _of_domain(run, plan)]


def _of_domain(run: Run, plan: CollectivePlan) -> list[Check]:
    wrong = [(node, seen) for node, seen in run["transports"].items() if seen != NVLINK]
    checks = judge_run(run)
    if run["failures"]:
        return checks
    checks += [fails(_TRANSPORT, NVLINK, seen, _OTHER_WAY, node=node) for node, seen in wrong]
    bound = plan["thresholds"].get("nvlink")
    size = judged_size(run["sizes"], bound)
    if wrong or size is None:
        return [*checks, not_measured(FIGURE, run["stopped"] or f"it went another way: see {_TRANSPORT}")]
    what = f"{shown_bytes(size['bytes'])}, {len(run['nodes'])} machines of one NVLink domain"
    checks.append(passes(_TRANSPORT, NVLINK))
    return [*checks, judge_figure(FIGURE, size["bus_gb_per_s"], bound, what, _SLOW)]
