"""Observe, decide, carry out: until a step ends it."""

from dataclasses import dataclass
from typing import Protocol, TypeVar

from aks_infiniband_cli.console import note
from aks_infiniband_cli.validate.run import Say, until


class Step(Protocol):
    """The next step. act: `wait`, or what the command does; why: in words."""

    @property
    def act(self) -> str: ...

    @property
    def why(self) -> str: ...


_Seen = TypeVar("_Seen")
_Step = TypeVar("_Step", bound=Step)


class Work(Protocol[_Seen, _Step]):
    """One command's work, machine by machine."""

    def observe(self) -> tuple[_Step, _Seen]:
        """The state of the cluster and of Azure, and the step that follows from it by a pure function."""

    def wait(self, why: str) -> None:
        """Report the cause of a wait; the next look follows."""

    def carry_out(self, step: _Step, seen: _Seen) -> bool:
        """Do what a step says; True if another one follows."""


def carry_through(work: Work[_Seen, _Step]) -> None:
    """All steps of a work. Raises NO_ANSWER and CommandError; the machines that are held stay so."""

    def due() -> tuple[_Step, _Seen] | None:
        step, seen = work.observe()
        if step.act != "wait":
            return step, seen
        work.wait(step.why)
        return None

    while work.carry_out(*until(due)):
        pass


@dataclass
class Progress:
    """The progress of a work: on a terminal always, in a log once."""

    say: Say
    _noted: str = ""

    def report(self, what: str) -> None:
        """Show what is under way."""
        self.say(what)
        if what != self._noted:
            self._noted = what
            note(what)
