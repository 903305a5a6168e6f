"""The visible state of a machine, and the step that follows from it: plain data."""

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
    """The number of machines of a pool that are replaced at once, and begun in 24 hours."""

    at_once: int
    a_day: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """The current state of the machine, its pool and Azure. Words are empty if there is nothing to say."""

    there: bool = True
    """True if the cluster has the node of the case."""
    boot: str = ""
    lacks: Sequence[str] = ()
    """The reasons that keep the node from being usable, except the quarantine."""
    serves: bool = True
    """True if the node is Ready, and its drivers are."""
    settled: float = 0
    """Minutes for which it has been so since it started again."""
    busy: str = ""
    """The users of its RDMA or GPU resources."""
    alone: str = ""
    """Pods there that no controller would make again."""
    others: str = ""
    """Other pods there, except those of DaemonSets."""
    azure: str = ""
    """Azure's own actions on the machine: a repair, a scheduled event."""
    healthy: Sequence[str] = ()
    """Other healthy nodes of the pool."""
    idle: Sequence[str] = ()
    """The idle ones of them."""
    operation: Progress = "none"
    """The progress of this process' request to Azure."""
    failure: str = ""
    """Azure's words: why it failed, or why it was refused for now."""
    differs: str = ""
    """Points on which the cluster and Azure contradict its case, which a person may have changed."""
    machine: bool = True
    """True if Azure has the machine that is given up."""
    given_up: str = ""
    """Another machine of the pool that is being given up: with two at once the original number is unknown."""
    count: int = 0
    """The number of machines that Azure's pool has, or is to have."""
    autoscaled: bool = False
    gave_up: bool = False
    """True if Azure's pool has fewer than that, and nothing is under way: its last change has failed."""
    newcomers: Sequence[str] = ()
    minutes: float = 0
    """Minutes since the stage began, or since the request to Azure."""
    limit: float = 45
    """Minutes that a stage may take."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """The action now, and why. stage: that begins with it; outcome: that the case ends with."""

    act: Act
    why: str = ""
    stage: Stage | None = None
    outcome: Outcome | None = None
