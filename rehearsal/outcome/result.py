"""The result of a rehearsal as a document for other programs: `result.json` in the run folder."""

import base64
import gzip
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from rehearsal.engine.events import Step

Status = Literal["succeeded", "failed"]
_KEEPER: Final = "pulumi:index:Stash"
_HIDDEN: Final = "[secret]"
"""What the engine shows in place of a secret output."""


def result(
    *,
    stack: str,
    status: Status,
    begun: float,
    ended: float,
    steps: Iterable[Step],
    outputs: Mapping[str, Any],
    reports: Mapping[str, Any],
) -> dict[str, Any]:
    """The document; times are real seconds, those of a resource counted from the beginning.

    begun, ended: of the engine's work, by the clock of the steps.
    outputs: the stack's, as the engine shows them; secret ones are left out.
    reports: by pool, what its validation has found; the outputs have a summary.
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
        "validation": dict(reports),
    }


def reports_of(outputs: Mapping[str, Any], deployment: Mapping[str, Any]) -> dict[str, Any]:
    """By pool, its validation's report, which the engine's state has compressed; without one, the outputs' summary."""
    found = {name: pool["validation"] for name, pool in outputs.get("pools", {}).items()}
    for resource in deployment.get("resources") or ():
        kept = resource.get("outputs", {}).get("output") if resource["type"] == _KEEPER else None
        if kept and isinstance(kept, str):  # others keep more than a text
            report = json.loads(gzip.decompress(base64.b64decode(kept)))
            found[report["pool"]] = report
    return found
