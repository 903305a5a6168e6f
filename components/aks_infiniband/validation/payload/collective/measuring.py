"""The all-reduce of a pool as the leading pod has it made: each tuning, again if it falls short."""

from __future__ import annotations

from ..say.expectations import CollectivePlan
from ..talk.rendezvous import Lead
from ..talk.steps import Step
from ..talk.time_left import Time
from .judge import COMPARED, JUDGED, as_try, falls_short
from .part import GRACE_SECONDS, START_SECONDS, meeting_point
from .results import Collective, Run, merged


def measure(lead: Lead, plan: CollectivePlan, *, tries: int) -> Collective:
    """Make one run for each tuning. The last of its tries is kept, with what each try gave.

    Each try has a separate meeting point. A try does not count if time was up before every node could answer.
    """
    runs: list[Run] = []
    time = Time(lambda: lead.seconds_left, lambda seconds: seconds)
    longest = START_SECONDS + plan["seconds"] + GRACE_SECONDS
    for tuning in (JUDGED, COMPARED):
        made: list[Run] = []
        while len(made) < tries and time.is_left:
            left = lead.seconds_left
            step: Step = {"collective": tuning, "plan": plan, "meeting": meeting_point()}
            entries = [entry for entry in lead.step(step).values() if entry]
            addresses = {node: member["address"] for node, member in lead.members.items()}
            if len(entries) < len(addresses) and time.was_short(left, longest):
                break
            count, replaced = plan["ranks_per_node"], lead.replaced
            run = merged(entries, tuning=tuning, ranks_per_node=count, addresses=addresses, replaced=replaced)
            made.append(run)
            if not run["failures"] and (tuning != JUDGED or not falls_short(run, plan)):
                break
        if made:
            runs.append({**made[-1], "tries": [as_try(one, plan) for one in made]})
    return {"runs": runs, "line_gb_per_s": plan["line_gb_per_s"], "thresholds": plan["thresholds"]}
