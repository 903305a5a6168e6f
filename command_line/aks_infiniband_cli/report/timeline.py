"""The steps of an update with their times, the resources that each waited for, and the chain that made the
update long.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from aks_infiniband.handwritten import HandwrittenError, json_document
from aks_infiniband.handwritten.form import formed
from aks_infiniband.terminal import one_line

from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.report.forms import Event, PlacedResources, Result
from aks_infiniband_cli.report.sources import deployment_in

_QUIET = frozenset({"same", "read", "refresh", "read-discard", "discard"})


class NoTimelineError(CommandError):
    """A file holds no update that changed something."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """One resource's operation. Times are seconds from the update's start."""

    urn: str
    start: float
    end: float
    waits_for: frozenset[str] = field(default_factory=frozenset)
    """URNs of what had to be there first: dependencies, the parent's own resource left out, and the provider."""

    @property
    def name(self) -> str:
        """Kind and name, as a person calls it: ManagedCluster rdma."""
        kind, name = self.urn.rsplit("::", 2)[-2:]
        return one_line(f"{kind.rsplit(':', 1)[-1]} {name}")

    @property
    def seconds(self) -> float:
        """Duration of the operation."""
        return self.end - self.start


@dataclass(frozen=True, kw_only=True)
class Link:
    """One link of the longest chain: an operation, or the wait before it.

    name: of the resource. waited: whether this is the time between what it waited for and its start, in which the
    program or the engine was at work.
    """

    name: str
    start: float
    end: float
    waited: bool

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end - self.start


def check(state: Any) -> None:
    """Raises HandwrittenError for a document that is not a state."""
    formed(PlacedResources, deployment_in(state))


def from_result(document: Mapping[str, Any], state: Mapping[str, Any]) -> list[Span]:
    """The timeline in a rehearsal's `result.json` and the engine's state. Raises NoTimelineError."""
    formed(Result, document)
    rows = [row for row in document["resources"] if row["status"] not in _QUIET]
    return _spans({row["urn"]: (row["start_s"], row["end_s"]) for row in rows}, state)


def from_engine(events: Iterable[str | bytes], state: Mapping[str, Any]) -> list[Span]:
    """The timeline in the engine's event log, one JSON document a line, and in the output of `pulumi stack export`.

    The engine's times have whole seconds. Raises NoTimelineError, and HandwrittenError for a line that is not an event.
    """
    begun: dict[str, float] = {}
    times: dict[str, tuple[float, float]] = {}
    for event in _events(events):
        for kind in ("resourcePreEvent", "resOutputsEvent", "resOpFailedEvent"):
            metadata = (event.get(kind) or {}).get("metadata")
            if metadata is None or metadata["op"] in _QUIET:
                continue
            if kind == "resourcePreEvent":
                begun[metadata["urn"]] = event["timestamp"]
            elif metadata["urn"] in begun:
                times[metadata["urn"]] = (begun[metadata["urn"]], event["timestamp"])
    first = min((start for start, _ in times.values()), default=0.0)
    if times and max(end for _, end in times.values()) == first:
        raise NoTimelineError("all of it takes no time: these are the events of a preview, and not of an update")
    return _spans({urn: (start - first, end - first) for urn, (start, end) in times.items()}, state)


def _events(lines: Iterable[str | bytes]) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                event = json_document(line)
                formed(Event, event)
            except HandwrittenError as error:
                raise HandwrittenError(f"line {number}: {error.at_its_place()}") from error
            yield event


def _spans(times: Mapping[str, tuple[float, float]], state: Mapping[str, Any]) -> list[Span]:
    """The operations of providers; a component's time is that of its children."""
    stored = deployment_in(state)
    waits: dict[str, set[str]] = {}
    asked: set[str] = set()
    for resource in stored.get("resources") or ():
        needed = set(resource.get("dependencies", []))
        waits.setdefault(resource["urn"], set()).update(needed)
        if resource.get("provider"):
            provider = resource["provider"].rsplit("::", 1)[0]  # it is named by its URN and its ID
            waits[resource["urn"]].add(provider)
            # The engine makes a default provider for the first resource that needs it; later ones may need that one.
            if provider.rpartition("::")[2].startswith("default") and provider not in asked:
                waits.setdefault(provider, set()).update(needed)
            asked.add(provider)
    spans = []
    for resource in stored.get("resources") or ():
        if resource.get("custom") and resource["urn"] in times:
            start, end = times[resource["urn"]]
            waits_for = frozenset(waits[resource["urn"]])
            spans.append(Span(urn=resource["urn"], start=start, end=end, waits_for=waits_for))
    if not spans:
        raise NoTimelineError("no resource of this state was made or changed")
    return sorted(spans, key=lambda span: (span.start, span.end, span.urn))


def longest_chain(spans: Sequence[Span]) -> list[Link]:
    """The chain from the update's start to its last end. Each step back leads to the operation that was waited for and
    ended last.
    """
    by_urn = {span.urn: span for span in spans}
    span: Span | None = max(spans, key=lambda span: span.end)
    links: list[Link] = []
    while span is not None:
        del by_urn[span.urn]  # nothing stands in a chain twice, whatever a state says
        links.append(Link(name=span.name, start=span.start, end=span.end, waited=False))
        before = [by_urn[urn] for urn in span.waits_for if urn in by_urn and by_urn[urn].end <= span.start]
        previous = max(before, key=lambda other: other.end, default=None)
        ended = previous.end if previous else 0.0
        if span.start > ended:
            links.append(Link(name=span.name, start=ended, end=span.start, waited=True))
        span = previous
    return links[::-1]


def waited_for(spans: Sequence[Span]) -> list[tuple[Span, list[Span]]]:
    """Each operation, and those that it waited for itself, the last to end first.

    Indirect predecessors are not named again.
    """
    by_urn = {span.urn: span for span in spans}
    waits = []
    for span in spans:
        own = [by_urn[urn] for urn in span.waits_for if urn in by_urn]
        theirs = frozenset[str]().union(*(other.waits_for for other in own))
        direct = [other for other in own if other.urn not in theirs]
        waits.append((span, sorted(direct, key=lambda other: (-other.end, other.urn))))
    return waits


def table(spans: Sequence[Span], longest: int = 5) -> str:
    """The longest links of the chain, the total, and what the sum one after the other would have been."""
    links = sorted(longest_chain(spans), key=lambda link: -link.seconds)[:longest]
    total, sequence = max(span.end for span in spans), sum(span.seconds for span in spans)
    rows = [(clock(link.seconds), f"{'before ' if link.waited else ''}{link.name}") for link in links]
    rows += [(clock(total), "in all"), (clock(sequence), "one after the other")]
    return "\n".join(f"{time:>8}  {name}" for time, name in rows)


def clock(seconds: float) -> str:
    """Minutes and seconds; below ten seconds, tenths."""
    return f"{seconds:.1f} s" if seconds < 10 else str(timedelta(seconds=round(seconds)))
