"""The next step: a pure function of the known facts on a machine and of the current ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from aks_infiniband.facts.words.azure import error_in

from aks_infiniband_cli.azure.answers import Progress
from aks_infiniband_cli.machine_by_machine.replace.case import Case, Outcome, Stage

FEWEST: Final = 2
"""Healthy nodes that a pool keeps: with one alone nothing can be measured, and the bad one cannot be found."""
_TRIES: Final = 3
"""The number of measurements that may be without a result."""
_SETTLED_MINUTES: Final = 10
"""After its drivers are ready a node offers what it has within a minute or two; ten are assumed to be enough."""
_DONE: Final[dict[Stage, str]] = {"restart": "restarted", "redeploy": "redeployed"}
_AFTER: Final[dict[Stage, Stage]] = {
    "quarantine": "empty", "empty": "evidence", "evidence": "restart", "restart": "redeploy", "redeploy": "delete",
    "delete": "refill", "refill": "arrive",
}  # fmt: skip
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


def next_step(case: Case, seen: Seen) -> Step:
    """The next step."""
    if case.stopped or seen.differs:
        return Step(act="stop", why="it was stopped" if case.stopped else f"nothing is done to it: {seen.differs}")
    if not seen.there and case.stage not in ("delete", "refill", "arrive"):
        return _undecided(f"node {case.node} is gone, and not by this command")
    if case.stage in ("quarantine", "empty", "evidence"):
        return _before(case, seen)
    if case.stage in ("restart", "redeploy"):
        return _anew(case, seen)
    if case.stage == "delete":
        return _given_up(case, seen)
    return _refilled(case, seen) if case.stage == "refill" else _arrived(case, seen)


def refusal(case: Case, others: Sequence[Case], seen: Seen, budget: Budget, begun_today: int) -> str:
    """The reason why a machine is not taken out now; empty if it may be.

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
        return Step(act="wait", why=seen.busy or f"{seen.alone}, and no controller would make them again")
    if seen.busy or seen.others:
        if seen.minutes > seen.limit and case.drain == "evict":
            return _undecided(f"{seen.minutes:.0f} minutes of evictions: {seen.busy or seen.others}")
        return Step(act="drain", why=seen.busy or seen.others)
    return Step(act="go on", why="no pod uses it", stage=after)


def _anew(case: Case, seen: Seen) -> Step:
    """The machine is restarted or redeployed, and measured. Only evidence against the machine leads on: a measurement
    that found it bad, devices that it lacks by its own count, or Azure's word that it could not be started.
    """
    if case.bad is not None:
        return _judged(case, seen)
    if not case.asked:
        return Step(act="wait", why=seen.azure) if seen.azure else _ask(case)
    return _back(case, seen) if seen.boot != case.boot else _not_back(case, seen)


def _back(case: Case, seen: Seen) -> Step:
    """The machine has started again."""
    short = ", ".join(seen.lacks)
    if not short:
        return _measured(case, seen)
    if seen.settled > _SETTLED_MINUTES:
        return Step(act="count", why=f"{seen.settled:.0f} minutes after its drivers were ready: {short}")
    return _as_it_is(case, seen, _late(seen, short)) if seen.minutes > seen.limit else Step(act="wait", why=short)


def _not_back(case: Case, seen: Seen) -> Step:
    """The machine has not started again yet, as far as the cluster shows."""
    done, short = _DONE[case.stage], ", ".join(seen.lacks)
    if seen.operation in ("failed", "refused"):
        why = f"Azure has not {done} it: {seen.failure}"
        return _next(case, why) if seen.operation == "failed" and not seen.serves else _as_it_is(case, seen, why)
    if seen.minutes > seen.limit:
        why = _late(seen, short or "it has not restarted")
        return _undecided(why) if case.accepted else _as_it_is(case, seen, why)
    if seen.operation == "none" and not case.accepted:
        return _ask(case)  # the command that sent the request is gone, and the request led to nothing
    if seen.operation == "unread":
        return Step(act="wait", why=f"it is being {done}; Azure does not report the progress: {seen.failure}")
    return Step(act="wait", why=short or f"it is being {done}")


def _late(seen: Seen, short: str) -> str:
    return f"{seen.minutes:.0f} minutes after the request to Azure: {seen.failure or short}"


def _as_it_is(case: Case, seen: Seen, why: str) -> Step:
    """The machine has not started again, or not with all that it should have: its visible state decides."""
    if not seen.serves:
        return _undecided(why)
    return Step(act="count", why=why) if seen.lacks else _measured(case, seen, why)


def _ask(case: Case) -> Step:
    return Step(act="restart" if case.stage == "restart" else "redeploy")


def _failed(seen: Seen, done: str, short: str) -> str:
    """Why nothing more is expected of a request; empty if something is. short: what has not come of it."""
    if seen.operation in ("failed", "refused"):
        return f"Azure has not {done} it: {seen.failure}"
    return _late(seen, short) if seen.minutes > seen.limit else ""


def _measured(case: Case, seen: Seen, why: str = "") -> Step:
    """why: it is measured although it has not restarted."""
    if case.tries >= _TRIES:
        return _undecided(f"{case.tries} measurements have told nothing of it")
    if seen.busy:
        late = seen.minutes > seen.limit
        return _undecided(f"{seen.minutes:.0f} minutes: {seen.busy}") if late else Step(act="wait", why=seen.busy)
    if len(seen.idle) < FEWEST:
        return Step(act="wait", why=f"it is measured with {FEWEST} healthy, idle nodes; now there are {len(seen.idle)}")
    return Step(act="measure", why=why)


def _undecided(why: str) -> Step:
    """No evidence names the machine: it is neither given up nor admitted, and a person decides."""
    return Step(act="end", why=why, stage="over", outcome="not decided")


def _judged(case: Case, seen: Seen) -> Step:
    if not case.bad:
        anew = f"since it was {_DONE[case.stage]}" if seen.boot != case.boot else "as it is"
        return Step(act="let in", why=f"it is sound {anew}", stage="over", outcome="cured")
    return _next(case, f"it is still bad: {'; '.join(case.bad)}")


def _next(case: Case, why: str) -> Step:
    """The next action on it, as far as the user allows it."""
    if case.stage == case.farthest:
        return Step(act="end", why=f"{why}. --farthest is {case.farthest}", stage="over", outcome="still bad")
    return Step(act="go on", why=why, stage=_AFTER[case.stage])


def _given_up(case: Case, seen: Seen) -> Step:
    """Azure deletes it: only its own pool gets another."""
    if not seen.machine:
        gone = Step(act="go on", why="Azure has deleted the machine", stage="refill")
        return Step(act="wait", why="its node goes") if seen.there else gone
    if failed := case.asked and _failed(seen, "deleted", "it is still there"):
        return _ended(failed)
    if case.asked:
        asks = seen.operation == "none" and not case.accepted
        untold = f", and does not report the progress ({seen.failure})" if seen.operation == "unread" else ""
        return Step(act="delete") if asks else Step(act="wait", why=f"Azure deletes it{untold}")
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
    if seen.operation in ("failed", "refused") or seen.minutes > seen.limit:
        return Step(act="stop", why=_short(case, seen))
    accepted = seen.count >= case.count or bool(case.accepted)
    if seen.operation in ("running", "unread") or (accepted and not seen.gave_up):
        return Step(act="wait", why=f"Azure makes another machine for pool {case.pool}")
    return Step(act="refill")


def _short(case: Case, seen: Seen) -> str:
    """The words for a pool that got too few machines: first the cause, because Azure's words may be longer than a line
    of the history.
    """
    has = f"pool {case.pool} has {case.count - 1} of {case.count} machines"
    if not seen.failure:
        return f"{has}: no other machine has come in {seen.minutes:.0f} minutes"
    known = error_in(seen.failure)
    return f"{has}: {known.cause}. Azure says: {seen.failure}" if known else f"{has}: {seen.failure}"


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
        return _as_it_is(case, seen, f"the new machine is not ready after {seen.minutes:.0f} minutes: {short}")
    return Step(act="wait", why=short)
