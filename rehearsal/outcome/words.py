"""The engine's terms as a person says them."""

from collections.abc import Sequence
from typing import Final

from rehearsal.engine.events import Step

_DONE: Final = {
    "create": "created",
    "update": "updated",
    "delete": "deleted",
    "replace": "replaced",
    "create-replacement": "created anew",
    "delete-replaced": "removed the old",
}


def kind(type_token: str) -> str:
    """A type token in one word: `kubernetes:core/v1:Namespace` is a Namespace."""
    return type_token.rsplit(":", 1)[-1]


def done(step: Step) -> str:
    """The result of a step."""
    return "failed" if step.failed else _DONE.get(step.operation, step.operation)


def gist(lines: Sequence[str]) -> str:
    """The line of a message that says most: the last one of a provider's list of errors, or otherwise the first one."""
    return lines[-1].strip("\t *") if lines[0].endswith(" errors occurred:") else lines[0]


def several(count: int, what: str) -> str:
    """A number of things."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def ago(seconds: float) -> str:
    """The time since then."""
    for length, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * length:
            return f"{seconds // length:.0f} {unit} ago"
    return f"{max(0, seconds):.0f} seconds ago"


def slept(seconds: float) -> str:
    """The possible effects of the machine's sleep."""
    return f"This machine slept for {round(seconds / 60)} min, so a wait, a login or a Job's time may have run out"
