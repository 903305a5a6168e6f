"""One pod's part of a round of pairs: an all-reduce with its partner, as that of a pool of two."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..collective import part as collective
from ..collective.results import NodeRun
from ..talk.steps import Members, Step


def carry_out(
    step: Step, members: Members, node: str, *, folder: Path, environment: Mapping[str, str]
) -> NodeRun | None:
    """Do this node's part; None if it lacks a partner in this round."""
    for pair, meeting in zip(step["node_pairs"], step["meetings"]):
        if node in pair:
            own: Step = {"collective": "pair", "plan": step["plan"], "meeting": meeting}
            both = {name: members[name] for name in pair}
            return collective.carry_out(own, both, node, folder=folder, environment=environment)
    return None
