"""A person's view while a rehearsal runs."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from rich.console import Console
from rich.markup import escape

from rehearsal.engine.events import Diagnostic, Event, Started, Step
from rehearsal.outcome.words import done, gist, kind, slept

_WORTH_A_LINE_SECONDS: Final = 1.0
"""Faster steps are counted, not listed, while the work continues."""
_ALIVE_SECONDS: Final = 10.0
"""At least this often the screen says what is being waited for."""
_NAMES: Final = 6
"""The number of awaited resources in one line."""
_ASLEEP_SECONDS: Final = 300.0
"""If the time of day jumps by this many seconds, the machine slept: events, or None, come about five times a second."""


@dataclass(kw_only=True)
class Progress:
    """Prints events as they come; `steps` keeps what was done, `errors` what went wrong.

    clock: the time of day in seconds, which continues while the machine sleeps; the other clocks may stand still.
    """

    console: Console
    begun: float = field(default_factory=time.monotonic)
    steps: list[Step] = field(default_factory=list)
    errors: list[Diagnostic] = field(default_factory=list)
    clock: Callable[[], float] = time.time
    slept_seconds: float = 0.0
    _seen: float | None = None
    _under_way: dict[str, float] = field(default_factory=dict)
    _spoke: float = field(default_factory=time.monotonic)

    def show(self, event: Event) -> None:
        """Take one event; None only lets time pass."""
        self._notice_sleep()
        match event:
            case Started():
                self._under_way[event.urn] = time.monotonic()
            case Step():
                self._finished(event)
            case Diagnostic():
                self._say_diagnostic(event)
            case None:
                self._say_waiting()

    def _notice_sleep(self) -> None:
        now = self.clock()
        pause = now - (now if self._seen is None else self._seen)
        self._seen = now
        if pause >= _ASLEEP_SECONDS:
            self.slept_seconds += pause
            self.say(f"[yellow]{slept(pause)}[/yellow]")

    def forget_plan(self) -> None:
        """Forget the steps of a preview: they have not been done."""
        self.say(f"planned: {len([step for step in self.steps if step.changed])} resources to make or change")
        self.steps.clear()

    def say(self, text: str) -> None:
        """One line, with the time since the start."""
        self._spoke = time.monotonic()
        minutes, seconds = divmod(int(self._spoke - self.begun), 60)
        self.console.print(f"[dim]{minutes}:{seconds:02d}[/dim]  {text}", highlight=False)

    def _finished(self, step: Step) -> None:
        self._under_way.pop(step.urn, None)
        if not step.custom and not step.failed:
            return
        if step.changed:
            self.steps.append(step)
        if step.failed:
            self.say(f"[red]failed[/red]  {kind(step.type)} {escape(step.name)} after {step.seconds:.1f} s")
        elif step.changed and step.seconds >= _WORTH_A_LINE_SECONDS:
            name = f"[bold]{escape(step.name)}[/bold]"
            self.say(f"{done(step)}  {kind(step.type)} {name}  [dim]{step.seconds:.1f} s[/dim]")

    def _say_diagnostic(self, diagnostic: Diagnostic) -> None:
        style = {"error": "red", "warning": "yellow"}.get(diagnostic.severity, "dim")
        lines = diagnostic.message.splitlines()
        if diagnostic.severity == "error":
            # The whole message stands at the end, because nothing comes after it.
            self.errors.append(diagnostic)
            lines = [f"{gist(lines)} …"] if len(lines) > 1 else lines
        for line in lines:
            self.console.print(f"      {line}", style=style, markup=False, highlight=False)
        self._spoke = time.monotonic()

    def _say_waiting(self) -> None:
        if self._under_way and time.monotonic() - self._spoke >= _ALIVE_SECONDS:
            names = sorted({urn.rsplit("::", 1)[-1] for urn in self._under_way})
            self.say(f"[dim]waiting for {escape(', '.join(names[:_NAMES]))}{' …' if len(names) > _NAMES else ''}[/dim]")
