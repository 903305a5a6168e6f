"""The machines that are and were replaced, in one ConfigMap of the validations' namespace; each step is an Event."""

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, cast

from aks_infiniband.handwritten import HandwrittenError
from aks_infiniband.handwritten.form import Form, formed
from aks_infiniband.validation.kept import MOST_BYTES, REPLACED, OtherReleaseError, document_in, where
from aks_infiniband.validation.machines import LET_IN
from aks_infiniband.validation.reports import EVENTS_OF_NODES
from lightkube import Client
from lightkube.resources.core_v1 import Event

from aks_infiniband_cli.console import CommandError, note
from aks_infiniband_cli.machine_by_machine.replace.case import MOST_WORDS, Case, Line, case_of, document_of
from aks_infiniband_cli.validate.keeping import Keeping
from aks_infiniband_cli.validate.records import keep_decision

SOURCE: Final = "aks-infiniband-replace"
_NOTE_BYTES: Final = 1024
"""Length of an Event's note (Kubernetes, pkg/apis/core/validation/events.go, NoteLengthLimit)."""


def now() -> str:
    """The present moment, in ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class _Document(Form):
    stopped: str = ""
    lost: str = ""
    cases: list[Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """A history as it was read. stopped: when everything was, the last time."""

    cases: list[Case] = field(default_factory=list)
    stopped: str = ""
    lost: str = ""
    """The ConfigMap into which an earlier one was set aside, of which not all could be read."""
    unread: str = ""
    """The parts of this history that cannot be read, in words."""


def read_in(config_map: Mapping[str, Any]) -> Read:
    """The history that a ConfigMap holds, the oldest case first, without what cannot be read.

    Raises CommandError for one that another release has written: only that release knows what is under way.
    """
    try:
        form = formed(_Document, document_in(REPLACED, config_map) or {"cases": []})
    except OtherReleaseError as error:
        raise CommandError(f"{where(REPLACED)}, cannot be read: {error.at_its_place()}") from error
    except HandwrittenError as error:
        return Read(unread=error.at_its_place())
    cases, unread = list[Case](), list[str]()
    for number, document in enumerate(form.cases):
        try:
            cases.append(case_of(document))
        except ValueError as error:
            unread.append(f"case {number} counts for nothing: {error}")
    return Read(cases=cases, stopped=form.stopped, lost=form.lost, unread="; ".join(unread))


@cache
def tell_once(what: str) -> None:
    """The history is read at every look."""
    note(what)


def _trimmed(cases: Sequence[Case], stopped: str, lost: str) -> str:
    """The history as text, without the oldest cases that are over if it were too long."""
    kept = list(cases)
    while True:
        shown = [document_of(case) for case in kept]
        head = {"schema_version": REPLACED.version, "stopped": stopped, "lost": lost}
        text = json.dumps({**head, "cases": shown})
        over = next((case for case in kept if case.stage == "over"), None)
        if len(text) <= MOST_BYTES or over is None:
            return text
        kept.remove(over)


class History:
    """The history of one cluster. Methods raise NO_ANSWER, and CommandError if another command took a case over."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client, self._namespace = client, namespace
        self._keeping = Keeping(client, namespace, REPLACED)
        self._runner = secrets.token_hex(4)

    def cases(self) -> list[Case]:
        """All of them, the oldest first."""
        return self.read().cases

    def read(self) -> Read:
        """The whole history. The parts that cannot be read are reported, and set aside when the next step is
        written.
        """
        read = read_in(self._keeping.read())
        if read.unread:
            tell_once(f"{where(REPLACED)}, cannot be read: {read.unread}")
        return read

    def open(self) -> list[Case]:
        """The cases that are not over."""
        return [case for case in self.cases() if case.stage != "over"]

    def was_stopped(self, since: str) -> bool:
        """True if a person has stopped everything after a moment."""
        return self.read().stopped >= since

    def take_over(self, case: Case) -> Case:
        """Begin a case, or continue one: the command that had it before finds that out at its next step, and ends."""
        case.runner, case.stopped, case.since = self._runner, False, now()
        self._change(lambda cases: [*(each for each in cases if each.id != case.id), case])
        return case

    def current(self, case: Case) -> Case:
        """The case as it stands in the cluster: a person may have stopped it. Raises CommandError."""
        return self._own(self.cases(), case)

    def write(self, case: Case, step: str = "", what: str = "", *, about: str = "") -> None:
        """Keep a case; with a step, also as a line of its history and as an Event of a node. A step that decides goes
        into the record of machines too.

        about: the node; else the one that the case is about.
        """
        lines = [Line(at=now(), step=step, what=what[:MOST_WORDS])] if step else []

        def changed(cases: Sequence[Case]) -> list[Case]:
            own = self._own(cases, case)
            case.stopped, case.lines = own.stopped, [*own.lines, *lines]  # the person who stopped it has left a line
            return [case if each.id == case.id else each for each in cases]

        self._change(changed)
        if step:
            self._tell(about or case.subject, step, what)
        if decision := _DECIDES.get(step):
            keep_decision(self._client, self._namespace, case.subject, decision, by="replace", why=what)

    def stop(self) -> list[Case]:
        """Stop all that is not over; a command that works on one ends at its next look. Returns them."""
        stopped = list[Case]()

        def changed(cases: Sequence[Case]) -> list[Case]:
            stopped[:] = [case for case in cases if case.stage != "over"]
            for case in stopped:
                case.stopped = True
                case.lines.append(Line(at=now(), step="Stopped", what="a person stopped it"))
            return list(cases)

        self._change(changed, stopped=now())
        for case in stopped:
            self._tell(case.subject, "Stopped", f"{case.node} is no longer being replaced; it stays in quarantine")
        return stopped

    def _own(self, cases: Sequence[Case], case: Case) -> Case:
        own = next((each for each in cases if each.id == case.id), None)
        if own is None:
            raise CommandError(f"the case of {case.node} is gone from the history: this command ends")
        if own.runner != self._runner:
            raise CommandError(f"another command works on {case.node} now: this one ends")
        return own

    def _change(self, change: Callable[[Sequence[Case]], list[Case]], *, stopped: str = "") -> None:
        """Write the result of a function on the cases, again if another wrote meanwhile. stopped: when all was."""
        while True:
            config_map = self._keeping.read()
            read = read_in(config_map)
            cases = change(read.cases)
            lost = self._keeping.set_aside(config_map, read.unread) if read.unread else read.lost
            text = _trimmed(cases, stopped or read.stopped, lost)
            if self._keeping.write(config_map, {"data": {REPLACED.key: text}}):
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


_DECIDES: Final = {
    "Quarantined": "quarantined",
    "Restarted": "restarted",
    "Redeployed": "redeployed",
    "Deleted": "given up",
    "LetIn": LET_IN,
    "Ended": "kept in quarantine",
}
"""The decisions on a machine, by step."""
_WARNINGS: Final = ("Quarantined", "Bad", "Deleted", "Ended", "Waits")
