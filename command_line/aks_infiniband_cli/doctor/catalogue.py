"""The catalogue of symptoms, as it stands in `symptoms/`: what each is called, its cause, what helps, who met it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from aks_infiniband.diagnosis.known_messages import ADMISSION, CLAIMS, HARDWARE, LOG_LINES, RUNTIME, SANDBOX, Known
from aks_infiniband.facts.tables import table

AREAS: Final = ("nodes", "controllers", "ofed", "device_plugins", "gpus", "workloads", "networks", "lifecycle")
"""The files of the catalogue, in the order in which its page shows them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Symptom:
    """An entry of the catalogue."""

    id: str
    area: str
    title: str
    """What is wrong, in a few words."""
    evidence: str
    """What the cluster shows."""
    cause: str
    fix: str
    """What helps."""
    sources: tuple[str, ...]
    """Who met it, or where it is documented."""
    read: str
    """When the sources were read: year and month, or day."""
    brings: tuple[str, ...] = ()
    """Symptoms that follow from this one. They are not reported where this one is seen."""


@cache
def catalogue() -> Mapping[str, Symptom]:
    """Every symptom by its id."""
    messages = {message.id: message for message in (*LOG_LINES, *HARDWARE, *RUNTIME, *SANDBOX, *CLAIMS, *ADMISSION)}
    found = [_symptom(area, entry, messages) for area in AREAS for entry in _entries(area)]
    return {symptom.id: symptom for symptom in found}


def _entries(area: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = table("aks_infiniband_cli.doctor", f"symptoms/{area}.yaml")["symptoms"]
    return entries


def _symptom(area: str, entry: Mapping[str, Any], messages: Mapping[str, Known]) -> Symptom:
    """A symptom that is a known message takes its cause, and what helps, from the diagnosis."""
    message = messages.get(entry["id"])
    known = {"cause": message.cause, "fix": message.fix} if message else {}
    if message and "evidence" not in entry:
        known["evidence"] = f"a log with `{message.pattern}`"
    given = {**known, **entry}
    given |= {"area": area, "read": str(entry["read"]), "sources": tuple(entry["sources"])}
    return Symptom(**given | {"brings": tuple(_flat(entry.get("brings") or []))})


def _flat(given: Sequence[Any]) -> Iterator[str]:
    """The names in a list that may hold lists, which stand in the file once under a name of their own."""
    for item in given:
        if isinstance(item, str):
            yield item
        else:
            yield from _flat(item)
