"""What a person sees last of a rehearsal that failed: the cause, and the next command."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rich.console import Console

from rehearsal.engine.events import Diagnostic
from rehearsal.outcome.words import kind, slept

_THAT_IT_FAILED: Final = ("update failed", "preview failed")
"""What the engine says beside the cause."""


def print_failure(
    console: Console, errors: Iterable[Diagnostic], *, logs: Path, command: str, slept_seconds: float = 0
) -> None:
    """Print every error whole, where the logs are, and a command.

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
    console.print("Next, once the cause is mended, or to look around in the cluster as it failed:", highlight=False)
    console.print(f"  {command}", markup=False, highlight=False)


def _causes(errors: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Every error once, those of providers first: the program's own explain them.

    Errors that only say that something failed are left out where there are others.
    """
    once = sorted(dict.fromkeys(errors), key=lambda error: not error.urn)
    return [error for error in once if error.message not in _THAT_IT_FAILED] or once
