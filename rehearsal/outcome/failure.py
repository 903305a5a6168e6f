"""The last lines of a rehearsal that failed: the cause, and the next command."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rich.console import Console

from rehearsal.engine.events import Diagnostic
from rehearsal.outcome.words import kind, slept

_THAT_IT_FAILED: Final = ("update failed", "preview failed")
"""The engine's words without the cause."""
_OBJECT: Final = re.compile(r"Resource '([^']+)' was created but failed to initialize")
"""In which the Kubernetes provider (4.27.0) names the object that it has waited for in vain."""


def print_failure(
    console: Console, errors: Iterable[Diagnostic], *, logs: Path, command: str, slept_seconds: float = 0
) -> None:
    """Print every error whole, the folder of the logs, and a command.

    logs: the folder. command: to look at the failure. slept_seconds: how long the machine slept meanwhile.
    """
    console.print("The rehearsal failed.", style="red")
    for error in _causes(errors):
        if error.urn:
            name, type_token = error.urn.rsplit("::", 1)[-1], error.urn.split("::")[2].rsplit("$", 1)[-1]
            console.print(f"{kind(type_token)} {name}:", style="red", markup=False, highlight=False)
        console.print(error.message, style="red", markup=False, highlight=False)
    if slept_seconds:
        console.print(f"{slept(slept_seconds)}; the command below may be all it takes", style="yellow", highlight=False)
    console.print(f"Each part has a log in {logs}", markup=False, highlight=False)
    console.print("Next, once the cause is fixed, or to look around in the cluster as it failed:", highlight=False)
    console.print(f"  {command}", markup=False, highlight=False)


def _causes(errors: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Every error once. Errors of providers come first, because the program's own explain them.

    Errors that only say that something failed are left out if there are others.
    """
    once = sorted(dict.fromkeys(errors), key=lambda error: not error.urn)
    told = _explained([error for error in once if error.message not in _THAT_IT_FAILED])
    return told or once


def _explained(errors: Sequence[Diagnostic]) -> list[Diagnostic]:
    """In place of the provider's list of all that it saw while it waited, the program's explanation of that wait."""
    ours = [error for error in errors if not error.urn]
    diagnostics, used = list[Diagnostic](), set[str]()
    for error in errors:
        awaited = _OBJECT.search(error.message) if error.urn else None
        own = next((ours_ for ours_ in ours if awaited and awaited[1] in ours_.message.partition("\n")[0]), None)
        diagnostics.append(replace(error, message=own.message) if own else error)
        used |= {own.message} if own else set()
    return [error for error in diagnostics if error.urn or error.message not in used]
