"""The catalogue of symptoms, as it stands in `symptoms/`: what each is called, its cause, what helps, who met it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from aks_infiniband.facts.tables import table
from aks_infiniband.facts.words import SYMPTOMS, Words
from aks_infiniband.terminal import with_addresses

AREAS: Final = ("nodes", "controllers", "ofed", "device_plugins", "gpus", "workloads", "networks", "lifecycle")
"""The files of the catalogue, in the order in which its page shows them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Symptom:
    """An entry of the catalogue."""

    id: str
    area: str
    title: str
    """The problem, in a few words."""
    evidence: str
    """The signs in the cluster."""
    cause: str
    fix: str
    """The remedy."""
    sources: tuple[str, ...]
    """The people who met it, or the page that documents it."""
    read: str
    """When the sources were read: year and month, or day."""
    brings: tuple[str, ...] = ()
    """Symptoms that follow from this one. Such symptoms are not reported if this one is seen."""


@cache
def catalogue() -> Mapping[str, Symptom]:
    """Every symptom by its id."""
    messages = {each.id: each for each in reversed(SYMPTOMS) if each.id}
    symptoms = [_symptom(area, entry, messages) for area in AREAS for entry in _entries(area)]
    return {symptom.id: symptom for symptom in symptoms}


def _entries(area: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = table("aks_infiniband_cli.doctor", f"symptoms/{area}.yaml")["symptoms"]
    return entries


def _symptom(area: str, entry: Mapping[str, Any], messages: Mapping[str, Words]) -> Symptom:
    """A symptom that has known words takes its cause, its cure and its sources from their catalogue."""
    message = messages.get(entry["id"])
    known: dict[str, Any] = {}
    if message:
        known = {"cause": message.cause, "fix": message.fix, "sources": message.sources, "read": message.read}
    if message and "evidence" not in entry:
        known["evidence"] = f"a log with `{message.words}`"
    given = {**known, **entry}
    sources = tuple(with_addresses(each) if each.startswith("docs/") else each for each in given["sources"])
    given |= {"area": area, "read": str(given["read"]), "sources": sources}
    given |= {key: with_addresses(given[key]) for key in ("cause", "fix")}
    return Symptom(**given | {"brings": tuple(_flat(entry.get("brings") or []))})


def _flat(given: Sequence[Any]) -> Iterator[str]:
    """The names in a list that may hold lists, which stand in the file once under a separate name."""
    for item in given:
        if isinstance(item, str):
            yield item
        else:
            yield from _flat(item)
