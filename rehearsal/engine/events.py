"""The engine's event log as plain data: which resource was made, changed or removed, and how long it took."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from rehearsal.engine.cancelled_programs import CancelledPrograms

Severity = Literal["info", "info#err", "warning", "error", "debug"]
_STANDARD_ERROR: Final = "info#err"
"""The engine's severity of what a program writes to standard error."""
_QUIET_OPERATIONS: Final = frozenset({"same", "read", "refresh", "read-discard", "discard"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One operation on one resource, finished or failed."""

    urn: str
    operation: str
    """The engine's word: create, update, delete, create-replacement, same, …"""
    begun: float
    ended: float
    """When the engine's two events were seen, in seconds of a clock that only goes forward (`time.monotonic`)."""
    custom: bool
    """True if a provider made it; False for components, which only group others, and for the stack itself."""
    failed: bool = False

    @property
    def name(self) -> str:
        """The resource's name in the program."""
        return self.urn.rsplit("::", 1)[-1]

    @property
    def type(self) -> str:
        """The resource's own type token, without its parents'."""
        return self.urn.split("::")[2].rsplit("$", 1)[-1]

    @property
    def seconds(self) -> float:
        """Duration of the operation."""
        return self.ended - self.begun

    @property
    def changed(self) -> bool:
        """True if the operation changed something in the world."""
        return self.operation not in _QUIET_OPERATIONS


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnostic:
    """One message of the program, a provider or the engine."""

    severity: str
    message: str
    urn: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Started:
    """An operation on a resource has begun."""

    urn: str
    operation: str


Event = Started | Step | Diagnostic | None
"""A command's reports while it works; None means that nothing new has happened."""


def _is_custom(metadata: dict[str, Any]) -> bool:
    """True if a provider makes the resource. The log leaves `custom` out if it is false."""
    state = metadata.get("new") or metadata.get("old") or {}
    return bool(state.get("custom")) and not metadata["type"].startswith("pulumi:providers:")


@dataclass(kw_only=True)
class EventReader:
    """Turns raw engine events, each with the time it was seen, into steps and diagnostics.

    The engine's own timestamps have whole seconds only, hence the time seen.
    """

    _begun: dict[str, float] = field(default_factory=dict)
    _standard_error: CancelledPrograms = field(default_factory=CancelledPrograms)

    def read(self, event: dict[str, Any], seen: float) -> Iterator[Started | Step | Diagnostic]:
        """The content of one event of the log; nothing for kinds of events that are of no use to a person."""
        if "resourcePreEvent" in event:
            metadata = event["resourcePreEvent"]["metadata"]
            self._begun[metadata["urn"]] = seen
            if metadata["op"] not in _QUIET_OPERATIONS and _is_custom(metadata):
                yield Started(urn=metadata["urn"], operation=metadata["op"])
        elif "resOutputsEvent" in event:
            yield self._step(event["resOutputsEvent"]["metadata"], seen, failed=False)
        elif "resOpFailedEvent" in event:
            yield self._step(event["resOpFailedEvent"]["metadata"], seen, failed=True)
        elif "diagnosticEvent" in event:
            yield from self._diagnostics(event["diagnosticEvent"])

    def rest(self) -> Iterator[Diagnostic]:
        """The events that were held back, and are worth telling when the log ends."""
        for message in self._standard_error.rest():
            yield Diagnostic(severity=_STANDARD_ERROR, message=message)

    def _diagnostics(self, event: dict[str, Any]) -> Iterator[Diagnostic]:
        severity, urn = event.get("severity", "info"), event.get("urn", "")
        message = event.get("message", "").rstrip()
        if event.get("ephemeral") or severity == "debug":
            return
        of_the_program = severity == _STANDARD_ERROR and not urn
        for text in self._standard_error.read(message) if of_the_program else [message]:
            yield Diagnostic(severity=severity, message=text, urn=urn)

    def _step(self, metadata: dict[str, Any], seen: float, *, failed: bool) -> Step:
        return Step(
            urn=metadata["urn"],
            operation=metadata["op"],
            begun=self._begun.pop(metadata["urn"], seen),
            ended=seen,
            failed=failed,
            custom=_is_custom(metadata),
        )
