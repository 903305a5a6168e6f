"""Recorded clusters: the healthy ones as they were read, and for each symptom what makes one show it."""

import copy
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml
from aks_infiniband.diagnosis.view import name_of
from aks_infiniband_cli.doctor.snapshot import Snapshot

_CLUSTERS: Final = Path(__file__).parent / "clusters"
HEALTHY: Final = ("dev", "mixed")
"""Stacks whose rehearsals were recorded."""


def healthy(name: str) -> Snapshot:
    """The recorded cluster of a stack."""
    return Snapshot.from_document(copy.deepcopy(_recorded(name)))


def sick(*symptoms: str, steps: Iterable[Mapping[str, Any]] = (), base: str | None = None) -> Snapshot:
    """A recorded cluster that shows some symptoms and what follows from them, and to which more steps were done."""
    shown = [step for symptom in symptoms for step in _flat(_sick_clusters()[symptom])]
    bases = [step["base"] for step in shown if "base" in step]
    return after([*shown, *steps], base=base or next(iter(bases), HEALTHY[0]))


def after(steps: Iterable[Mapping[str, Any]], *, base: str = HEALTHY[0]) -> Snapshot:
    """A recorded cluster to which steps were done."""
    document = copy.deepcopy(_recorded(base))
    for step in steps:
        _apply(document, step)
    return Snapshot.from_document(document)


def symptoms_with_a_cluster() -> set[str]:
    """The ids of the symptoms that a recorded cluster shows."""
    return set(_sick_clusters())


@cache
def _recorded(name: str) -> dict[str, Any]:
    recorded: dict[str, Any] = yaml.load(
        (_CLUSTERS / f"{name}.yaml").read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    )
    return recorded


@cache
def _sick_clusters() -> dict[str, list[Any]]:
    files = [yaml.safe_load(path.read_text()) for path in sorted((_CLUSTERS / "sick").glob("*.yaml"))]
    return {symptom: steps for file in files for symptom, steps in file["symptoms"].items()}


def _flat(steps: list[Any]) -> Iterator[Mapping[str, Any]]:
    for step in steps:
        if isinstance(step, list):
            yield from _flat(step)
        else:
            yield step


def _apply(document: dict[str, Any], step: Mapping[str, Any]) -> None:
    objects = document["objects"]
    if "add" in step:
        objects.append(copy.deepcopy(step["add"]))
    if "remove" in step:
        gone = [id(item) for item in _chosen(objects, step["remove"])]
        document["objects"] = [item for item in objects if id(item) not in gone]
    if "change" in step:
        for item in _chosen(objects, step["change"]):
            _merge(item, step["by"])
    for pattern, text in (step.get("logs") or {}).items():
        for item in _chosen(objects, f"Pod {pattern}"):
            document["logs"][name_of(item)] = text
    if "undefined" in step:
        document.setdefault("undefined", []).append(step["undefined"])


def _chosen(objects: list[dict[str, Any]], pattern: str) -> list[dict[str, Any]]:
    found = [item for item in objects if fnmatchcase(f"{item['kind']} {name_of(item)}", pattern)]
    assert found, f"the recorded cluster has no {pattern}"
    return found


def _merge(into: dict[str, Any], patch: Mapping[str, Any]) -> None:
    """A JSON merge patch (RFC 7386)."""
    for key, value in patch.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(into.setdefault(key, {}), dict):
            _merge(into[key], value)
        else:
            into[key] = copy.deepcopy(value)
