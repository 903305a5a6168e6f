"""What a person sees of a rehearsal: progress while it goes, tables at its end."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from rehearsal.engine.events import Diagnostic, Event, Started, Step

_DONE: Final = {
    "create": "created",
    "update": "updated",
    "delete": "deleted",
    "replace": "replaced",
    "create-replacement": "created anew",
    "delete-replaced": "removed the old",
}
_VERDICT_STYLE: Final = {
    "pass": "green",
    "warn": "yellow",
    "fail": "red",
    "not measured": "yellow",
    "not judged": "yellow",
}
_WORTH_A_LINE_SECONDS: Final = 1.0
"""Faster steps are counted, not listed, while the work goes on."""
_ALIVE_SECONDS: Final = 10.0
"""At least this often the screen says what is being waited for."""


def kind(type_token: str) -> str:
    """A type token as a person says it: `kubernetes:core/v1:Namespace` is a Namespace."""
    return type_token.rsplit(":", 1)[-1]


@dataclass(kw_only=True)
class Progress:
    """Prints events as they come; `steps` keeps what was done."""

    console: Console
    begun: float = field(default_factory=time.monotonic)
    steps: list[Step] = field(default_factory=list)
    _under_way: dict[str, float] = field(default_factory=dict)
    _spoke: float = field(default_factory=time.monotonic)

    def show(self, event: Event) -> None:
        """Take one event; None only lets time pass."""
        match event:
            case Started():
                self._under_way[event.urn] = time.monotonic()
            case Step():
                self._finished(event)
            case Diagnostic():
                self._say_diagnostic(event)
            case None:
                self._say_waiting()

    def forget_plan(self) -> None:
        """What a preview would do has not been done."""
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
            self.say(f"[red]failed[/red]  {kind(step.type)} {step.name} after {step.seconds:.1f} s")
        elif step.changed and step.seconds >= _WORTH_A_LINE_SECONDS:
            done = _DONE.get(step.operation, step.operation)
            self.say(f"{done}  {kind(step.type)} [bold]{step.name}[/bold]  [dim]{step.seconds:.1f} s[/dim]")

    def _say_diagnostic(self, diagnostic: Diagnostic) -> None:
        style = {"error": "red", "warning": "yellow"}.get(diagnostic.severity, "dim")
        for line in diagnostic.message.splitlines():
            self.console.print(f"      {line}", style=style, markup=False, highlight=False)
        self._spoke = time.monotonic()

    def _say_waiting(self) -> None:
        if self._under_way and time.monotonic() - self._spoke >= _ALIVE_SECONDS:
            names = sorted({urn.rsplit("::", 1)[-1] for urn in self._under_way})
            self.say(f"[dim]waiting for {', '.join(names[:6])}{' …' if len(names) > 6 else ''}[/dim]")


def steps_table(steps: Iterable[Step]) -> Table:
    """Everything that changed, in the order it was finished, and how long each took."""
    table = Table(title="What was made, changed or removed", title_justify="left", header_style="bold")
    for column in ("kind", "name", "what"):
        table.add_column(column)
    table.add_column("seconds", justify="right")
    rows = list(steps)
    if not rows:
        table.add_row("nothing: everything is as the program says", "", "", "")
    for step in rows:
        done = "failed" if step.failed else _DONE.get(step.operation, step.operation)
        table.add_row(kind(step.type), step.name, done, f"{step.seconds:.1f}", style="red" if step.failed else None)
    return table


def checks_table(pool: str, report: Mapping[str, Any]) -> Table:
    """A pool's validation: what went well in one row per check, everything else in a row of its own."""
    table = Table(title=f"Validation of {pool}", title_justify="left", header_style="bold")
    table.add_column("check", no_wrap=True)
    for column in ("where", "expected", "measured", "verdict"):
        table.add_column(column, overflow="fold")
    passed: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    others: list[Mapping[str, Any]] = []
    for row in report["checks"]:
        if row["verdict"] == "pass":
            passed.setdefault((row["check"], _cell(row["expected"])), []).append(row)
        else:
            others.append(row)
    for (check, expected), rows in passed.items():
        measured = sorted({_cell(row["measured"]) for row in rows})
        table.add_row(check, _places(rows), expected, ", ".join(measured), "[green]pass[/]")
    for row in others:
        verdict = row["verdict"]
        cells = (row["check"], _places([row]), _cell(row["expected"]), _cell(row["measured"]))
        table.add_row(*cells, f"[{_VERDICT_STYLE[verdict]}]{verdict}[/]")
    return table


def _cell(value: Any) -> str:
    """A figure as a table shows it: what several places agree on once, and a list as a list."""
    match value:
        case None:
            return "-"
        case dict():
            return ", ".join(sorted({_cell(item) for item in value.values()}))
        case list():
            return ", ".join(_cell(item) for item in value)
    return str(value)


def _places(rows: Sequence[Mapping[str, Any]]) -> str:
    """Where checks were made: the place's own name if it is one, else how many of each there are."""
    if len(rows) == 1:
        return " ".join(str(rows[0][key]) for key in ("node", "device") if rows[0].get(key))
    nodes = {row["node"] for row in rows if row.get("node")}
    if not nodes:
        return ""
    devices = sum(1 for row in rows if row.get("device"))
    return f"{len(nodes)} nodes, {devices} devices" if devices else f"{len(nodes)} nodes"


def print_summary(console: Console, steps: Iterable[Step], outputs: Mapping[str, Any]) -> None:
    """What was made, how long each step took, and each pool's verdict."""
    console.print(steps_table(steps))
    for name, pool in outputs.get("pools", {}).items():
        report = pool["validation"]
        console.print(checks_table(name, report))
        verdict = report["verdict"]
        console.print(
            f"{name}: [{_VERDICT_STYLE[verdict]} bold]{verdict}[/] · {pool['nodeCount']} × {pool['vmSize']} · "
            f"{pool['rdmaResource'] or pool['mode']} · {report['coverage']['summary']}",
            highlight=False,
        )
