"""The machines that are and were replaced, in one ConfigMap of the validations' namespace; each step is an Event."""

import json
import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final, cast

from aks_infiniband.resources.metadata import labels
from aks_infiniband.validation.reports import EVENTS_OF_NODES
from lightkube import ApiError, Client
from lightkube.resources.core_v1 import ConfigMap, Event

from aks_infiniband_cli.bad_machines.replace.case import Case, Line, case_of, document_of
from aks_infiniband_cli.console import CommandError

NAME: Final = "replaced-machines"
KEY: Final = "cases.json"
SOURCE: Final = "aks-infiniband-replace"
_SCHEMA_VERSION: Final = 1
_KEPT: Final = 300
"""Cases that the history keeps: a ConfigMap holds 1 MiB, and a case takes some 2 KiB."""
_NOTE_BYTES: Final = 1024
"""Of an Event (Kubernetes, pkg/apis/core/validation/events.go, NoteLengthLimit)."""


def now() -> str:
    """The present moment, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def cases_in(config_map: Any) -> list[Case]:
    """The cases that a ConfigMap holds, the oldest first. Raises CommandError for those of another release."""
    try:
        document = _document(config_map)
        if document and document["schema_version"] != _SCHEMA_VERSION:
            raise CommandError(
                f"the history of replaced machines has schema version {document['schema_version']}, and this release "
                f"reads {_SCHEMA_VERSION}: use the release that wrote it"
            )
        return [case_of(case) for case in document.get("cases", [])]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CommandError(f"the history of replaced machines, ConfigMap {NAME}, cannot be read: {error}") from error


def _document(config_map: Any) -> dict[str, Any]:
    return dict(json.loads((config_map.get("data") or {}).get(KEY) or "{}"))


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
        return str(_document(self._read()).get("stopped", "")) >= since

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
            cases = [document_of(case) for case in change(cases_in(found))[-_KEPT:]]
            when = stopped or _document(found).get("stopped", "")
            document = {"schema_version": _SCHEMA_VERSION, "stopped": when, "cases": cases}
            metadata = {"name": NAME, "namespace": self._namespace, "labels": _LABELS}
            version = (found.get("metadata") or {}).get("resourceVersion")
            body = ConfigMap.from_dict(
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "metadata": metadata | ({"resourceVersion": version} if version else {}),
                    "data": {KEY: json.dumps(document)},
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
