"""The result of a rehearsal as a document for other programs: `result.json` in the run folder."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from rehearsal.engine.events import Step
from rehearsal.outcome.reports import Known

Status = Literal["succeeded", "failed"]
_HIDDEN: Final = "[secret]"
"""The engine's mark in place of a secret output."""


def result(
    *,
    stack: str,
    status: Status,
    begun: float,
    ended: float,
    steps: Iterable[Step],
    outputs: Mapping[str, Any],
    known: Known,
    left_out: Sequence[str] = (),
) -> dict[str, Any]:
    """The document; times are real seconds, those of a resource counted from the beginning.

    begun, ended: of the engine's work, by the clock of the steps. outputs: the stack's, as the engine shows them;
    secret ones are left out. known: this update's measurements, as "validation", and an earlier one's, as
    "validated_before"; the outputs have the last summary of each pool, from either. left_out: parts that were not
    rehearsed, in sentences.
    """
    return {
        "stack": stack,
        "status": status,
        "makespan_s": round(ended - begun, 3),
        "outputs": {name: value for name, value in outputs.items() if value != _HIDDEN},
        "resources": [
            {
                "urn": step.urn,
                "type": step.type,
                "start_s": round(step.begun - begun, 3),
                "end_s": round(step.ended - begun, 3),
                "status": "failed" if step.failed else step.operation,
            }
            for step in steps
        ],
        "validation": dict(known.measured),
        "validated_before": dict(known.before),
        "not_rehearsed": list(left_out),
    }
