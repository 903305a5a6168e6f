"""What comes next: a pure function of what is known of a machine and of what is seen now."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from aks_infiniband_cli.bad_machines.replace.case import Case, Outcome, Stage

Act = Literal[
    "wait", "quarantine", "drain", "keep evidence", "restart", "redeploy", "delete", "refill", "take in hand",
    "measure", "go on", "let in", "end", "stop",
]  # fmt: skip
FEWEST: Final = 2
"""Healthy nodes that a pool keeps: with one alone nothing can be measured, and nobody can tell who is bad."""
_TRIES: Final = 3
"""Measurements that may tell nothing."""
_SETTLED_MINUTES: Final = 10
"""After its drivers are ready a node offers what it has within a minute or two; ten are assumed to be enough."""
_DONE: Final[dict[Stage, str]] = {"restart": "restarted", "redeploy": "redeployed"}
_AFTER: Final[dict[Stage, Stage]] = {
    "quarantine": "empty", "empty": "evidence", "evidence": "restart", "restart": "redeploy", "redeploy": "delete",
    "delete": "refill", "refill": "arrive",
}  # fmt: skip


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
    settled: float = 0
    """Minutes for which the node has been Ready, with its drivers, since it started anew."""
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
    operation: Literal["none", "running", "ended", "failed"] = "none"
    """How far Azure is with what this process asked for."""
    failure: str = ""
    """Azure's words: why it failed, or why it was refused for now."""
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


def next_step(case: Case, seen: Seen) -> Step:
    """What comes next."""
    if case.stopped:
        return Step(act="stop", why="it was stopped")
    if not seen.there and case.stage not in ("delete", "refill", "arrive"):
        why = f"node {case.node} is gone, and not by this command"
        return Step(act="end", why=why, stage="over", outcome="not decided")
    if case.stage in ("quarantine", "empty", "evidence"):
        return _before(case, seen)
    if case.stage in ("restart", "redeploy"):
        return _anew(case, seen)
    if case.stage == "delete":
        return _given_up(case, seen)
    return _refilled(case, seen) if case.stage == "refill" else _arrived(case, seen)


def refusal(case: Case, others: Sequence[Case], seen: Seen, budget: Budget, begun_today: int) -> str:
    """Why a machine is not taken out now; empty where it may be.

    others: the pool's cases that are not over. begun_today: how many were begun in the last 24 hours.
    """
    if seen.azure:
        return f"{case.node} is left alone: {seen.azure}"
    if len(seen.healthy) < FEWEST:
        left = ", ".join(seen.healthy) or "none"
        return (
            f"pool {case.pool} would keep {len(seen.healthy)} healthy nodes ({left}), and {FEWEST} are the least: with "
            "fewer nothing can be measured"
        )
    if len(others) >= budget.at_once:
        open_ = ", ".join(other.node for other in others)
        return f"{len(others)} of pool {case.pool} is being replaced ({open_}), and --at-once is {budget.at_once}"
    if begun_today >= budget.a_day:
        return f"{begun_today} of pool {case.pool} were taken out in the last 24 hours, and --a-day is {budget.a_day}"
    return ""


def _before(case: Case, seen: Seen) -> Step:
    after = _AFTER[case.stage]
    if case.stage == "quarantine":
        return Step(act="quarantine", why=case.why, stage=after)
    if case.stage == "evidence":
        return Step(act="keep evidence", stage=after)
    if (seen.busy or seen.alone) and case.drain == "wait":
        return Step(act="wait", why=seen.busy or f"{seen.alone}, and nobody would make them again")
    if seen.busy or seen.others:
        return Step(act="drain", why=seen.busy or seen.others)
    return Step(act="go on", why="nobody uses it", stage=after)


def _anew(case: Case, seen: Seen) -> Step:
    """It is restarted or redeployed, and measured."""
    if case.bad is not None:
        return _judged(case)
    if not case.asked:
        return Step(act="wait", why=seen.azure) if seen.azure else _ask(case)
    if seen.boot != case.boot and not seen.lacks:
        return _measured(case, seen)
    short = ", ".join(seen.lacks)
    settled = f"{seen.settled:.0f} minutes after its drivers were ready: {short}"
    given_up = settled if short and seen.settled > _SETTLED_MINUTES else ""
    if failed := _failed(seen, _DONE[case.stage], short or "it has not started anew") or given_up:
        return _next(case, failed)
    if seen.operation == "none" and seen.boot == case.boot:
        return _ask(case)  # whoever asked is gone, and nothing has come of it
    return Step(act="wait", why=short or f"it is being {_DONE[case.stage]}")


def _ask(case: Case) -> Step:
    return Step(act="restart" if case.stage == "restart" else "redeploy")


def _failed(seen: Seen, done: str, short: str) -> str:
    """Why nothing more is expected of a request; empty where something is. short: what has not come of it."""
    if seen.operation == "failed":
        return f"Azure has not {done} it: {seen.failure}"
    late = f"{seen.minutes:.0f} minutes after Azure was asked: {seen.failure or short}"
    return late if seen.minutes > seen.limit else ""


def _measured(case: Case, seen: Seen) -> Step:
    if case.tries >= _TRIES:
        why = f"{case.tries} measurements have told nothing of it"
        return Step(act="end", why=why, stage="over", outcome="not decided")
    if seen.busy:
        return Step(act="wait", why=seen.busy)
    if len(seen.idle) < FEWEST:
        return Step(act="wait", why=f"it is measured beside {FEWEST} healthy nodes that nobody uses: {len(seen.idle)}")
    return Step(act="measure")


def _judged(case: Case) -> Step:
    if not case.bad:
        return Step(act="let in", why=f"it is sound since it was {_DONE[case.stage]}", stage="over", outcome="cured")
    return _next(case, f"it is still bad: {'; '.join(case.bad)}")


def _next(case: Case, why: str) -> Step:
    """The next thing that is done to it, as far as that was asked for."""
    if case.stage == case.farthest:
        return Step(act="end", why=f"{why}. --farthest is {case.farthest}", stage="over", outcome="still bad")
    return Step(act="go on", why=why, stage=_AFTER[case.stage])


def _given_up(case: Case, seen: Seen) -> Step:
    """Azure deletes it: nobody but its own pool gets another."""
    if not seen.machine:
        gone = Step(act="go on", why="Azure has deleted the machine", stage="refill")
        return Step(act="wait", why="its node goes") if seen.there else gone
    if failed := case.asked and _failed(seen, "deleted", "it is still there"):
        return _ended(failed)
    if case.asked:
        return Step(act="delete") if seen.operation == "none" else Step(act="wait", why="Azure deletes it")
    if seen.autoscaled:
        return _ended(f"the cluster autoscaler counts pool {case.pool}, and brings no deleted machine back by itself")
    few = f"pool {case.pool} has {len(seen.healthy)} healthy nodes, and {FEWEST} are the least"
    other = f"{seen.given_up} of pool {case.pool} is given up first" if seen.given_up else ""
    if seen.azure or other or len(seen.healthy) < FEWEST:
        return Step(act="wait", why=seen.azure or other or few)
    return Step(act="delete")


def _ended(why: str) -> Step:
    return Step(act="end", why=why, stage="over", outcome="still bad")


def _refilled(case: Case, seen: Seen) -> Step:
    if seen.newcomers:
        return Step(act="take in hand", why=seen.newcomers[0], stage="arrive")
    if seen.operation == "failed" or seen.minutes > seen.limit:
        said = seen.failure or f"no other machine has come in {seen.minutes:.0f} minutes"
        return Step(act="stop", why=f"pool {case.pool} has {case.count - 1} of {case.count} machines: {said}")
    if seen.operation == "running" or (seen.count >= case.count and not seen.gave_up):
        return Step(act="wait", why=f"Azure makes another machine for pool {case.pool}")
    return Step(act="refill")


def _arrived(case: Case, seen: Seen) -> Step:
    if case.bad:
        return _ended(f"the new machine is bad, too: {'; '.join(case.bad)}")
    if case.bad is not None:
        return Step(act="let in", why="the new machine is sound", stage="over", outcome="replaced")
    if not seen.there:
        return Step(act="go on", why=f"{case.new} is gone", stage="refill")
    if not seen.lacks:
        return _measured(case, seen)
    short = ", ".join(seen.lacks)
    if seen.minutes > seen.limit:
        return _ended(f"the new machine is not ready after {seen.minutes:.0f} minutes: {short}")
    return Step(act="wait", why=short)
