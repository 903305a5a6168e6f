"""The kinds of cases on what a rehearsal prints. An outcome has the lines of the screen."""

import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from rehearsal.engine.events import Diagnostic, EventReader, Step
from rehearsal.outcome.failure import print_failure
from rehearsal.outcome.progress import Progress
from rehearsal.outcome.reports import Known
from rehearsal.outcome.summary import Since, print_summary
from rehearsal.outcome.tables import checks_table, passed_line
from tests.cases import Case

_URN: Final = "urn:pulumi:dev::aks-infiniband::kubernetes:helm.sh/v3:Release::network-operator"
_TRACEBACK: Final = 'Traceback (most recent call last):\n  File "/bin/exec", line 197, in <module>\n    run()\n    ^^\n'


def screen(case: Case) -> Console:
    """A screen of a case's width."""
    return Console(width=case.get("width", 200), soft_wrap=True, record=True, file=StringIO())


def lines(console: Console) -> list[str]:
    """The lines on a screen, without the lines of a table, the times of reports and the time that passed."""
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+\+00:00", "TIME", console.export_text())
    text = re.sub(r"(?m)^\d+:\d\d  ", "M:SS  ", text)
    return [line.rstrip() for line in text.splitlines() if line.strip("─━┏┳┓┡╇┩└┴┘")]


def diagnostic(fields: dict[str, Any]) -> Diagnostic:
    """A message of the engine: an error of the program, unless it says otherwise."""
    usual: dict[str, Any] = {"severity": "error"}
    return Diagnostic(**usual | fields)


def step(fields: dict[str, Any]) -> Step:
    """The creation of a Helm release, unless it says otherwise."""
    usual: dict[str, Any] = {"urn": _URN, "operation": "create", "begun": 0.0, "ended": 1.0, "custom": True}
    return Step(**usual | fields)


def checks_of(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Checks of a case, after those that passed on each HCA: `passed` has the numbers of nodes and of HCAs."""
    usual = {"check": "rate", "expected": "400 Gb/s", "measured": "400 Gb/s", "verdict": "pass"}
    nodes, devices = case.get("passed", (0, 0))
    places = [{"node": f"node-{n // devices}", "device": f"mlx5_{n % devices}"} for n in range(nodes * devices)]
    return [{**usual, **check} for check in [*places, *case.get("checks", ())]]


def table(case: Case) -> Any:
    """The table of a pool's checks, and the line on those that passed."""
    console, report = screen(case), {"checks": checks_of(case)}
    console.print(checks_table("ndh100", report, width=console.width, every=case.get("every", False)))
    return {"table": lines(console), "line": passed_line(report)}


def failure(case: Case) -> Any:
    """The end of a rehearsal that failed."""
    console, slept = screen(case), case.get("slept", 0)
    errors = [diagnostic(error) for error in case["errors"]]
    print_failure(console, errors, logs=Path("/run/logs"), command="make rehearse", slept_seconds=slept)
    return lines(console)


def progress(case: Case) -> Any:
    """The lines on events as they come: steps, messages, or the time of day alone."""
    console, day = screen(case), iter(case.get("clock", ()))
    shown = Progress(console=console, clock=(lambda: next(day)) if "clock" in case else time.time)
    for event in case.get("events", [None] * len(case.get("clock", ()))):
        shown.show(event and (diagnostic(event) if "message" in event else step(event)))
    return {"lines": lines(console), "errors": len(shown.errors), "slept": round(shown.slept_seconds)}


def summary(case: Case) -> Any:
    """The end of a rehearsal. A report and faults have their age in seconds."""

    def report(fields: Mapping[str, Any]) -> dict[str, Any]:
        made = datetime.fromtimestamp(time.time() - fields.get("age", 690), UTC).isoformat(timespec="seconds")
        verdict, coverage = fields.get("verdict", "pass"), {"summary": "2 of 2 nodes, 16 of 16 HCAs"}
        return {"finished": made, "verdict": verdict, "coverage": coverage, "checks": checks_of(fields)}

    console, pool = screen(case), {"vmSize": "V", "nodeCount": 2, "rdmaResource": "rdma/shared_ib"}
    known = Known(**{kind: {"ndh100": report(case[kind])} for kind in ("measured", "before") if kind in case})
    since = case.get("since", {})
    if "faults" in since:
        since = since | {"faults": (since["faults"][0], time.time() - since["faults"][1])}
    outputs = {"pools": {"ndh100": pool}} if known != Known() else {}
    print_summary(console, [step(each) for each in case.get("steps", ())], outputs, known, since=Since(**since))
    return lines(console)


def events(case: Case) -> Any:
    """The steps and messages that are read of an engine's events, each with the second at which it was seen."""
    reader = EventReader()
    return [
        f"{event!r}: {event.type} {event.name}, {event.seconds} s, changed: {event.changed}"
        if isinstance(event, Step)
        else repr(event)
        for moment, logged in case["events"].items()
        for event in reader.read(logged, float(moment))
    ]


def messages(case: Case) -> Any:
    """The messages that are shown if the engine logs them in one piece, and line by line. TRACEBACK stands for one."""
    shown = {}
    texts = [text.replace("TRACEBACK", _TRACEBACK) for text in case["messages"]]
    for name, pieces in {"whole": texts, "by line": [line for text in texts for line in text.splitlines(True)]}.items():
        reader, severity = EventReader(), case.get("severity", "info#err")
        logged = [{"diagnosticEvent": {"severity": severity, "message": f"{piece}\n"}} for piece in pieces]
        told = [*(event for each in logged for event in reader.read(each, 0.0)), *reader.rest()]
        said = [event.message for event in told if isinstance(event, Diagnostic)]
        shown[name] = [text.replace(_TRACEBACK.rstrip(), "TRACEBACK") for text in said]
    return shown


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "table": table,
    "failure": failure,
    "progress": progress,
    "summary": summary,
    "events": events,
    "messages": messages,
}
"""By the first word of a file's name, what gives the outcome of a case."""
