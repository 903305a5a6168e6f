"""The machines that are and were replaced, in one ConfigMap of the validations' namespace; each step is an Event."""

import json
import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from http import HTTPStatus
from typing import Any, Final, cast

from aks_infiniband.handwritten import HandwrittenError, json_document
from aks_infiniband.handwritten.form import Form, formed
from aks_infiniband.resources.metadata import labels
from aks_infiniband.validation.reports import EVENTS_OF_NODES
from lightkube import ApiError, Client
from lightkube.resources.core_v1 import ConfigMap, Event

from aks_infiniband_cli.bad_machines.replace.case import Case, Line, case_of, document_of
from aks_infiniband_cli.console import CommandError, note

NAME: Final = "replaced-machines"
KEY: Final = "cases.json"
SOURCE: Final = "aks-infiniband-replace"
_SCHEMA_VERSION: Final = 1
_MOST_BYTES: Final = 900_000
"""Of the history: a ConfigMap holds 1 MiB (Kubernetes, "ConfigMaps"). The oldest cases that are over go first."""
_NOTE_BYTES: Final = 1024
"""Of an Event (Kubernetes, pkg/apis/core/validation/events.go, NoteLengthLimit)."""


def now() -> str:
    """The present moment, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def cases_in(config_map: Any) -> list[Case]:
    """The cases that a ConfigMap holds, the oldest first; one that is not in its form is told, and left out.

    Raises CommandError for a history of another release, and for one that is none.
    """
    found = []
    for number, document in enumerate(_document(config_map)["cases"]):
        try:
            found.append(case_of(document))
        except ValueError as error:
            tell_once(f"the history of replaced machines, ConfigMap {NAME}: case {number} counts for nothing: {error}")
    return found


@cache
def tell_once(what: str) -> None:
    """The history is read at every look."""
    note(what)


def _document(config_map: Any) -> dict[str, Any]:
    """Raises CommandError."""
    text = (config_map.get("data") or {}).get(KEY)
    if not text:
        return {"schema_version": _SCHEMA_VERSION, "stopped": "", "cases": []}
    try:
        found = formed(_History, json_document(text))
    except HandwrittenError as error:
        raise CommandError(
            f"the history of replaced machines, key {KEY} of ConfigMap {NAME}, cannot be read: {error.at_its_place()}. "
            "Mend it; without it nobody knows what is under way"
        ) from error
    if found.schema_version != _SCHEMA_VERSION:
        raise CommandError(
            f"the history of replaced machines has schema version {found.schema_version}, and this release "
            f"reads {_SCHEMA_VERSION}: use the release that wrote it"
        )
    return found.model_dump()


class _History(Form):
    schema_version: int
    stopped: str = ""
    cases: list[Any]


def _trimmed(cases: Sequence[Case], stopped: str) -> str:
    """The history as text, without the oldest cases that are over if it were too long."""
    kept = list(cases)
    while True:
        shown = [document_of(case) for case in kept]
        text = json.dumps({"schema_version": _SCHEMA_VERSION, "stopped": stopped, "cases": shown})
        over = next((case for case in kept if case.stage == "over"), None)
        if len(text) <= _MOST_BYTES or over is None:
            return text
        kept.remove(over)


class History:
    """The history of one cluster. Methods raise NO_ANSWER, and CommandError where another command took a case over."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client, self._namespace = client, namespace
        self._runner = secrets.token_hex(4)

    def cases(self) -> list[Case]:
        """All of them, the oldest first."""
        return cases_in(self._read())

    def open(self) -> list[Case]:
        """Those that are not over."""
        return [case for case in self.cases() if case.stage != "over"]

    def was_stopped(self, since: str) -> bool:
        """Whether somebody has stopped everything after a moment."""
        return str(_document(self._read())["stopped"]) >= since

    def take_over(self, case: Case) -> Case:
        """Begin a case, or go on with one: whoever had it before finds that out at its next step, and ends."""
        case.runner, case.stopped, case.since = self._runner, False, now()
        self._change(lambda cases: [*(each for each in cases if each.id != case.id), case])
        return case

    def current(self, case: Case) -> Case:
        """The case as it stands in the cluster: somebody may have stopped it. Raises CommandError."""
        return self._own(self.cases(), case)

    def write(self, case: Case, step: str = "", what: str = "", *, about: str = "") -> None:
        """Keep a case; with a step, also as a line of its history and as an Event of a node.

        about: the node; else the one that the case is about.
        """
        lines = [Line(at=now(), step=step, what=what)] if step else []

        def changed(cases: Sequence[Case]) -> list[Case]:
            own = self._own(cases, case)
            case.stopped, case.lines = own.stopped, [*own.lines, *lines]  # whoever stopped it has left a line
            return [case if each.id == case.id else each for each in cases]

        self._change(changed)
        if step:
            self._tell(about or case.subject, step, what)

    def stop(self) -> list[Case]:
        """Stop all that is not over; whoever works on one ends at its next look. Returns them."""
        stopped = list[Case]()

        def changed(cases: Sequence[Case]) -> list[Case]:
            stopped[:] = [case for case in cases if case.stage != "over"]
            for case in stopped:
                case.stopped = True
                case.lines.append(Line(at=now(), step="Stopped", what="somebody has stopped it"))
            return list(cases)

        self._change(changed, stopped=now())
        for case in stopped:
            self._tell(case.subject, "Stopped", f"{case.node} is no longer being replaced; it stays in quarantine")
        return stopped

    def _own(self, cases: Sequence[Case], case: Case) -> Case:
        found = next((each for each in cases if each.id == case.id), None)
        if found is None or found.runner != self._runner:
            raise CommandError(f"another command goes on with {case.node}: this one ends")
        return found

    def _read(self) -> Any:
        try:
            return self._client.get(ConfigMap, NAME, namespace=self._namespace).to_dict()
        except ApiError as error:
            if error.status.code != HTTPStatus.NOT_FOUND:
                raise
            return {}

    def _change(self, change: Callable[[Sequence[Case]], list[Case]], *, stopped: str = "") -> None:
        """Write what a function makes of the cases, anew where somebody else wrote meanwhile. stopped: when all was."""
        while True:
            found = self._read()
            text = _trimmed(change(cases_in(found)), stopped or _document(found)["stopped"])
            metadata = {"name": NAME, "namespace": self._namespace, "labels": _LABELS}
            version = (found.get("metadata") or {}).get("resourceVersion")
            body = ConfigMap.from_dict(
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "metadata": metadata | ({"resourceVersion": version} if version else {}),
                    "data": {KEY: text},
                }
            )
            write: Any = self._client.replace if version else self._client.create
            try:
                write(cast("ConfigMap", body))
            except ApiError as error:
                if error.status.code != HTTPStatus.CONFLICT:
                    raise
            else:
                return

    def _tell(self, node: str, step: str, what: str) -> None:
        moment = now().replace("+00:00", "Z")
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{node}.{secrets.token_hex(8)}", "namespace": EVENTS_OF_NODES},
            "type": "Warning" if step in _WARNINGS else "Normal",
            "reason": f"Replace{step}",
            "message": what.encode()[:_NOTE_BYTES].decode(errors="ignore"),
            "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": node, "uid": node},
            "source": {"component": SOURCE},
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
        }
        self._client.create(cast("Event", Event.from_dict(event)))


_WARNINGS: Final = ("Quarantined", "Bad", "Deleted", "Ended", "Waits")
_LABELS: Final = {**labels("replace", "history"), "app.kubernetes.io/managed-by": SOURCE}
