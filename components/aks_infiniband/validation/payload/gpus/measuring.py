"""The GPUs of a pool under load as the leading pod has it made: all nodes at once, again if one falls short."""

from __future__ import annotations

from collections.abc import Sequence

from ..say.expectations import GpusPlan
from ..talk.rendezvous import Lead
from .judge import falls_short
from .results import NodeGpus


def measure(lead: Lead, plan: GpusPlan, *, tries: int) -> list[list[NodeGpus]]:
    """The findings of the nodes, for each try that there was time for."""
    made: list[list[NodeGpus]] = []
    while len(made) < tries and not lead.time_is_up:
        answers: Sequence[NodeGpus] = [answer for answer in lead.step({"gpus": plan}).values() if answer]
        if lead.time_is_up and made:
            break
        made.append(list(answers))
        if not falls_short(made, plan):
            break
    return made
