"""The rounds of pairs as the leading pod has them made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..collective.failures import culprits
from ..collective.part import meeting_point
from ..collective.results import NodeRun, merged
from ..programs.endings import SILENT_NODE
from ..say.expectations import CollectivePlan, PairsPlan
from ..talk.rendezvous import Lead
from ..talk.steps import Step
from .judge import PairFigure
from .rounds import rounds_of


def measure(lead: Lead, plan: CollectivePlan, pairs_plan: PairsPlan) -> list[PairFigure]:
    """Every pair of every round that there was time for, in the order in which they were measured."""
    pair_figures: list[PairFigure] = []
    short: CollectivePlan = {**plan, "sizes": [pairs_plan["bytes"]], "seconds": pairs_plan["seconds"]}
    for number, pairs in enumerate(rounds_of(list(lead.members), pairs_plan["rounds"]), start=1):
        if lead.time_is_up:
            break
        meetings = [meeting_point() for _ in pairs]
        step: Step = {"node_pairs": pairs, "meetings": meetings, "plan": short}
        answers = lead.step(step)
        if not lead.time_is_up:
            pair_figures += [figure_of(pair, number, answers, plan["ranks_per_node"], lead.replaced) for pair in pairs]
    return pair_figures


def figure_of(
    pair: tuple[str, str],
    number: int,
    answers: Mapping[str, NodeRun | None],
    ranks_per_node: int,
    replaced: Mapping[str, int] | None = None,
) -> PairFigure:
    """The result of a pair, made of what its two nodes say. replaced: how often pods of nodes ended in the middle of
    it.
    """
    entries: Sequence[NodeRun] = [entry for node in pair if (entry := answers.get(node))]
    addresses = {node: node for node in pair}  # the nodes that take part
    run = merged(entries, tuning="pair", ranks_per_node=ranks_per_node, addresses=addresses, replaced=replaced)
    at_fault = culprits(run["failures"])
    silent = [f"{node}: {SILENT_NODE}" for node in pair if not answers.get(node)]
    said = [f"{one['node']}: {one['reason']}: {one['cause']}" for one in at_fault]
    error = next(iter([*said, *silent]), run["stopped"])
    value = run["sizes"][-1]["bus_gb_per_s"] if run["sizes"] and not error else None
    return {
        "spread": run["sizes"][-1].get("spread") if value is not None else None,
        "nodes": list(pair),
        "round": number,
        "value": value and float(f"{value:.4g}"),
        "error": error if value is not None or error else "no message was reduced",
        "at_fault": sorted({one["node"] for one in at_fault} or pair) if value is None else [],
    }
