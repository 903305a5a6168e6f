"""What is seen of a machine, and the step that follows from it: plain data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from aks_infiniband_cli.azure.answers import Progress
from aks_infiniband_cli.bad_machines.replace.case import Outcome, Stage

Act = Literal[
    "wait", "quarantine", "drain", "keep evidence", "restart", "redeploy", "delete", "refill", "take in hand",
    "measure", "count", "go on", "let in", "end", "stop",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """How many machines of a pool are replaced at once, and begun in 24 hours."""

    at_once: int
    a_day: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What is seen now of the machine, its pool and Azure. Words are empty where there is nothing to say."""

    there: bool = True
    """Whether the cluster has the node that it is about."""
    boot: str = ""
    lacks: Sequence[str] = ()
    """What keeps the node from being usable, but for the quarantine."""
    serves: bool = True
    """Whether the node is Ready, and its drivers are."""
    settled: float = 0
    """Minutes for which it has been so since it started anew."""
    busy: str = ""
    """Who uses its RDMA or GPU resources."""
    alone: str = ""
    """Who runs there, and would be made again by nobody."""
    others: str = ""
    """Who else runs there, but for DaemonSets."""
    azure: str = ""
    """What Azure does to the machine of its own accord: a repair, a scheduled event."""
    healthy: Sequence[str] = ()
    """Healthy nodes of the pool beside it."""
    idle: Sequence[str] = ()
    """Those of them that nobody uses."""
    operation: Progress = "none"
    """How far Azure is with what this process asked for."""
    failure: str = ""
    """Azure's words: why it failed, or why it was refused for now."""
    differs: str = ""
    """What the cluster and Azure say of it otherwise than its case does, which somebody may have changed."""
    machine: bool = True
    """Whether Azure has the machine that is given up."""
    given_up: str = ""
    """Another machine of the pool that is being given up: with two at once nobody knows how many there were."""
    count: int = 0
    """How many machines Azure's pool has, or is to have."""
    autoscaled: bool = False
    gave_up: bool = False
    """Whether Azure's pool has fewer than that, and nothing is under way: its last change has failed."""
    newcomers: Sequence[str] = ()
    minutes: float = 0
    """Since the stage began, or since Azure was asked."""
    limit: float = 45
    """Minutes that a stage may take."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What is done now, and why. stage: that begins with it; outcome: that the case ends with."""

    act: Act
    why: str = ""
    stage: Stage | None = None
    outcome: Outcome | None = None
