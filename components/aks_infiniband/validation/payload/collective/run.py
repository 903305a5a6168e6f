"""The all-reduce of a pool as the leading pod has it made: each tuning, again where it falls short."""

from __future__ import annotations

from ..say.expectations import CollectivePlan
from ..talk.rendezvous import Lead
from ..talk.steps import Step
from .judge import JUDGED, as_try, falls_short
from .part import TUNINGS, meeting_point
from .results import Collective, Run, merged


def measure(lead: Lead, plan: CollectivePlan, *, tries: int) -> Collective:
    """Make one run for each tuning: the last of its tries is kept, with what each of them gave.

    Each try has a meeting point of its own.
    """
    runs: list[Run] = []
    for tuning in TUNINGS:
        made = []
        for _ in range(tries):
            step: Step = {"collective": tuning, "plan": plan, "meeting": meeting_point()}
            entries = [entry for entry in lead.step(step).values() if entry]
            addresses = {node: member["address"] for node, member in lead.members.items()}
            made.append(merged(entries, tuning=tuning, ranks_per_node=plan["ranks_per_node"], addresses=addresses))
            again = made[-1]["failures"] or (tuning == JUDGED and falls_short(made[-1], plan))
            if not again or lead.time_is_up:
                break
        runs.append({**made[-1], "tries": [as_try(run, plan) for run in made]})
    return {"runs": runs, "line_gb_per_s": plan["line_gb_per_s"], "thresholds": plan["thresholds"]}
