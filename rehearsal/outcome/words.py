"""The engine's terms as a person says them."""

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
    """What a step did."""
    return "failed" if step.failed else _DONE.get(step.operation, step.operation)


def slept(seconds: float) -> str:
    """What it can mean that the machine slept."""
    return f"This machine slept for {round(seconds / 60)} min, so a wait, a login or a Job's time may have run out"
