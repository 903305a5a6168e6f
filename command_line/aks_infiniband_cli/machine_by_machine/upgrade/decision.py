"""The next step of a pool's upgrade: a pure function of what its machines have and of what Azure says."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from aks_infiniband_cli.azure.cluster import ENDED, SUCCEEDED, UPGRADING

Act = Literal[
    "wait", "abort", "uncordon", "hold", "let go", "measure", "fall short", "release", "request", "fail", "end"
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """One machine of the pool. changed: it has the new system; accepted: it was measured with it; lacks: the reasons
    that keep it from use; late: it has had its time to be without them. kept_by: the other author of its cordon.
    """

    name: str
    changed: bool = False
    accepted: bool = False
    cordoned: bool = False
    kept_by: str = ""
    held: bool = False
    lacks: Sequence[str] = ()
    late: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """The current state of a pool that is upgraded.

    count: the number of its machines in Azure; state: its provisioning state there. holds: the budget that holds
    machines is there; stopped: a person has requested a stop. request: the progress of this command's last request to
    Azure; failure: why it failed. shortfalls: those of the machine that was measured last.
    """

    machines: Sequence[Machine]
    count: int
    state: str = SUCCEEDED
    holds: bool = False
    stopped: bool = False
    request: Literal["none", "running", "ended"] = "none"
    failure: str = ""
    shortfalls: Sequence[str] = ()

    @property
    def under_way(self) -> bool:
        """True if Azure changes the pool, as far as it or this command's request shows."""
        return self.state not in ENDED or self.request == "running"

    @property
    def lacks_one(self) -> bool:
        """True if Azure counts more machines than the cluster has Nodes of the pool."""
        return len(self.machines) < self.count


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """The action now. nodes: the machines that it is about."""

    act: Act
    why: str = ""
    nodes: Sequence[str] = ()


def next_step(seen: Seen, *, each: bool) -> Step:
    """The next step. each: every machine is measured; else the first, and the others follow unmeasured."""
    if seen.shortfalls:
        return Step(act="end")
    if seen.stopped:
        return Step(act="fail", why="was stopped; run the same command to continue")
    if seen.lacks_one and seen.state not in ENDED:
        # Its Node is away while AKS reimages it. The others are not all, and AKS must not get the next one now.
        return Step(act="wait", why="AKS reimages a machine")
    changed = [machine for machine in seen.machines if machine.changed]
    waiting = [machine for machine in seen.machines if not machine.changed]
    unmeasured = [machine for machine in changed if not machine.accepted]
    if unmeasured and (each or len(unmeasured) == len(changed)):
        return _to_measure(seen, unmeasured[0], waiting)
    if not waiting or (changed and not each):
        return _to_follow(seen, waiting)
    return _one_more(seen, waiting)


def _to_measure(seen: Seen, machine: Machine, waiting: Sequence[Machine]) -> Step:
    """A machine has the new system: nothing else of its pool moves while it is measured."""
    if seen.state not in ENDED:
        return Step(act="abort") if waiting else Step(act="wait", why="AKS ends its operation")
    if cordoned := _cordoned(waiting):
        return Step(act="uncordon", nodes=cordoned)
    if machine.kept_by:
        return _kept([machine])
    if not machine.lacks:
        return Step(act="measure", nodes=[machine.name])
    if machine.late:
        return Step(act="fall short", why=", ".join(machine.lacks), nodes=[machine.name])
    return Step(act="wait", why=f"waiting for the drivers of {machine.name}")


def _to_follow(seen: Seen, waiting: Sequence[Machine]) -> Step:
    """All machines have the new system, or may have it unmeasured. After an aborted request a pool shows Canceled, so
    another request has it say that it is whole.
    """
    if seen.holds:
        if kept := [machine for machine in waiting if machine.kept_by]:
            return _kept(kept)  # AKS would take the cordon away with the upgrade
        return Step(act="release", why=f"the other {len(waiting)} machines follow" if waiting else "")
    if seen.failure:
        return Step(act="fail", why=f"ended: {seen.failure}")
    if seen.under_way:
        return Step(act="wait", why="AKS ends its operation")
    return Step(act="request" if waiting or seen.state != SUCCEEDED else "end")


def _one_more(seen: Seen, waiting: Sequence[Machine]) -> Step:
    """AKS upgrades one machine, whichever it drains first, and no other.

    An operation of AKS for a command that is gone is neither ended nor requested again, unless it could take more than
    the one machine that is not held.
    """
    free = [machine.name for machine in waiting if not machine.held]
    if len(free) < 2 and (seen.state in UPGRADING or seen.request == "running"):
        return _drained(seen, waiting, free)
    if seen.request == "ended":
        return Step(act="fail", why=f"ended: {seen.failure or 'nothing was changed'}")
    if seen.under_way:
        return Step(act="abort")
    return _requested(seen, waiting)


def _drained(seen: Seen, waiting: Sequence[Machine], free: Sequence[str]) -> Step:
    """AKS drains a machine: the one that is free, or one that it has cordoned and that is let go now."""
    if not free:
        if cordoned := _cordoned(waiting):
            return Step(act="let go", nodes=cordoned[:1])
        if kept := [machine for machine in waiting if machine.kept_by]:
            return _kept(kept)  # AKS may drain this one: nothing shows it
    number = len(seen.machines) - len(waiting) + 1
    why = f"AKS reimages {free[0]}" if free else f"AKS chooses machine {number} of {len(seen.machines)}"
    earlier = "AKS already carries out the request of an earlier command"
    return Step(act="wait", why=earlier if seen.request == "none" else why)


def _requested(seen: Seen, waiting: Sequence[Machine]) -> Step:
    """AKS gets a request if all machines of the pool are there and no other author keeps one."""
    if cordoned := _cordoned(waiting):
        return Step(act="uncordon", nodes=cordoned)
    if kept := [machine for machine in waiting if machine.kept_by]:
        return _kept(kept)
    if seen.lacks_one:
        counts = f"Azure counts {seen.count} machines, and {len(seen.machines)} of them have a Node"
        return Step(act="fail", why=f"stops: {counts}. Run the same command once all have one")
    return Step(act="hold", nodes=[machine.name for machine in waiting])


def _cordoned(machines: Sequence[Machine]) -> list[str]:
    """The machines that AKS has cordoned and not reimaged: none had a cordon before, and no other author has left a
    mark on them.
    """
    return [machine.name for machine in machines if machine.cordoned and not machine.kept_by]


def _kept(machines: Sequence[Machine]) -> Step:
    """Another author's cordon stays: to lift it, or to have AKS lift it, is up to that author."""
    kept = ", ".join(f"{machine.name} by {machine.kept_by}" for machine in machines)
    why = f"stops: another author keeps machines cordoned ({kept}). Run the same command once they are free"
    return Step(act="fail", why=why, nodes=[machine.name for machine in machines])
