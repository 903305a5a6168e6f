"""The facts about the real operators, charts and machines, as `python -m tests.conformance.distil` wrote them.

Every file is read once.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from tests.conformance.notation import Fields, below, schema_of

NETWORK, GPU = "network-operator-26.4.1", "gpu-operator-26.3.3"
"""The releases that the program installs by default."""
NETWORK_LATER, GPU_LATER = "network-operator-26.7.0-rc.2", "gpu-operator-26.7.0"
"""The releases of 26.7. For the Network Operator's chart only the release candidate was published in a readable
place.
"""
DRA = "dra-driver-0.4.1"
"""NVIDIA's DRA driver for GPUs, with either. From 26.7 on the GPU Operator's chart has its definitions too."""
FOLDERS = {"26.4": (NETWORK, GPU, DRA), "26.7": (NETWORK, GPU, NETWORK_LATER, GPU_LATER)}
"""By release, the folders of its definitions: a changed definition of a later one takes the place of the earlier."""
AMD = "amd-gpu-operator-1.5.1"
"""The release of AMD's operator, for use with either."""
PROMETHEUS = "prometheus"
"""The definitions of monitors and rules."""
SCHEDULERS = "schedulers"
"""The definitions of Kueue's and Volcano's objects for nodes."""
FOLDER = Path(__file__).parent / "facts"


def file_of(original: str) -> Path:
    """The facts that were taken from an original, named by its path below the folder of originals."""
    return FOLDER / Path(original).with_suffix(".yaml")


@cache
def facts(original: str) -> Any:
    """The content of an original."""
    return yaml.load(file_of(original).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


@cache
def definitions(release: str = "26.4") -> dict[str, Any]:
    """The custom resource definitions by name: of a release's operators, of AMD's operator, of both kinds of
    Prometheus, and of schedulers.
    """
    folders = (*FOLDERS[release], AMD, PROMETHEUS, SCHEDULERS)
    files = [file.relative_to(FOLDER) for release in folders for file in sorted((FOLDER / release).iterdir())]
    return {name: said for file in files for name, said in facts(str(file)).get("definitions", {}).items()}


def fields_of(kind: str, release: str = "26.4") -> Fields:
    """The fields of a kind's stored version. kind: or, if two groups have it, the definition's name."""
    found = definitions(release).items()
    (definition,) = [definition for name, definition in found if kind in (name, definition["names"]["kind"])]
    (fields,) = [version["fields"] for version in definition["versions"].values() if version["storage"]]
    return fields


@cache
def _validator(kind: str, release: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema_of(below(fields_of(kind, release))["spec"]))


def assert_accepted(kind: str, spec: dict[str, Any]) -> None:
    """Holds the spec of a custom resource against its definition, as strictly as an API server that validates fields.

    That of every release. Raises AssertionError that names every field which a definition refuses, and why.
    """
    for release in FOLDERS:
        errors = [f"{error.json_path}: {error.message}" for error in _validator(kind, release).iter_errors(spec)]
        assert not errors, f"{release}: {'; '.join(errors)}"


@cache
def chart_values(release: str) -> dict[str, Any]:
    """A chart's default values, over those of its subchart for kernel modules if it has one."""
    values = _defaults(f"{release}/chart-values.yaml")
    if file_of(f"{release}/chart-values-kmm.yaml").exists():
        values["kmm"] = {**_defaults(f"{release}/chart-values-kmm.yaml"), **values["kmm"]}
    return values


def _defaults(original: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for path, default in facts(original)["defaults"].items():
        *parents, name = (part.replace(r"\.", ".") for part in re.split(r"(?<!\\)\.", path))
        here = values
        for parent in parents:
            here = here.setdefault(parent, {})
        here[name] = default
    return values


def misfits(values: dict[str, Any], release: str) -> dict[str, str]:
    """The values that a chart does not take, by path, with the reason: it has none of the name, or one of another type.

    A value in a comment of the chart is one of its values. Below a default that is an empty mapping, and in an
    affinity, which is Kubernetes' own, anything may stand.
    """
    commented_out = facts(f"{release}/chart-values.yaml")["commented-out"]
    found = dict(_misfits(values, chart_values(release), ""))
    return {path: reason for path, reason in found.items() if path not in commented_out}


def _misfits(values: dict[str, Any], defaults: dict[str, Any], above: str) -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        if key not in defaults:
            yield above + key, "unknown"
        elif defaults[key] is not None and type(value) is not type(defaults[key]):
            yield above + key, f"{type(value).__name__} for {type(defaults[key]).__name__}"
        elif isinstance(value, dict) and defaults[key] and key != "affinity":
            yield from _misfits(value, defaults[key], f"{above}{key}.")
