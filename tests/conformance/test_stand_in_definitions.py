"""Our small custom resource definitions accept nothing that the real ones refuse, and name nothing that they lack."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT.parent / "shared" / "reference"
CHARTS = ROOT / "rehearsal" / "charts"
OURS = sorted([*CHARTS.glob("*/crds/*.yaml"), *(ROOT / "rehearsal" / "operators" / "crds").glob("*.yaml")])
WITHOUT_REFERENCE = {"cidrpools.nv-ipam.nvidia.com"}
"""Definitions that the reference holds no copy of."""

Schema = dict[str, Any]


def definitions(paths: list[Path]) -> dict[str, Schema]:
    documents = [document for path in paths for document in yaml.safe_load_all(path.read_text()) if document]
    return {d["metadata"]["name"]: d for d in documents if d["kind"] == "CustomResourceDefinition"}


def real_definitions() -> dict[str, Schema]:
    if not REFERENCE.is_dir():
        pytest.skip(f"the real definitions are not here: {REFERENCE} does not exist")
    return definitions([p for p in REFERENCE.glob("*/*.yaml") if "components" not in p.name and "values" not in p.name])


NAMES = sorted(definitions(OURS))


def kind_of(schema: Schema) -> str:
    return "int-or-string" if schema.get("x-kubernetes-int-or-string") else str(schema.get("type"))


def differences(ours: Schema, real: Schema, path: str = "") -> Iterator[str]:
    """What our schema says otherwise than the real one, for the properties that ours has."""
    yield from keyword_differences(ours, real, path)
    real_properties = real.get("properties") or {}
    for name, schema in (ours.get("properties") or {}).items():
        if name not in real_properties:
            yield f"{path}.{name}: the real one has no such property"
        else:
            yield from differences(schema, real_properties[name], f"{path}.{name}")
    for keyword in ("items", "additionalProperties"):
        if keyword in ours:
            if not isinstance(real.get(keyword), dict):
                yield f"{path}: has {keyword}, the real one has none"
            else:
                yield from differences(ours[keyword], real[keyword], f"{path}[]")


def keyword_differences(ours: Schema, real: Schema, path: str) -> Iterator[str]:
    if kind_of(ours) != kind_of(real):
        yield f"{path}: type {kind_of(ours)}, really {kind_of(real)}"
    if sorted(ours.get("enum") or ()) != sorted(real.get("enum") or ()):
        yield f"{path}: enum {ours.get('enum')}, really {real.get('enum')}"
    for keyword in ("default", "minimum", "x-kubernetes-preserve-unknown-fields"):
        if ours.get(keyword) != real.get(keyword):
            yield f"{path}: {keyword} {ours.get(keyword)}, really {real.get(keyword)}"
    properties = ours.get("properties") or {}
    required = set(real.get("required") or ()) & set(properties)
    if properties and set(ours.get("required") or ()) != required:
        yield f"{path}: requires {ours.get('required')}, really {real.get('required')}"


@pytest.mark.parametrize("name", NAMES)
def test_definition_says_what_the_real_one_says(name: str) -> None:
    real = real_definitions()
    if name in WITHOUT_REFERENCE:
        pytest.skip(f"{name}: the reference holds no copy of it")
    ours = definitions(OURS)[name]["spec"]
    theirs = real[name]["spec"]
    for field in ("group", "scope"):
        assert ours[field] == theirs[field]
    assert ours["names"].items() <= theirs["names"].items()
    versions = {version["name"]: version for version in theirs["versions"]}
    for version in ours["versions"]:
        its = versions[version["name"]]
        assert (version["served"], version["storage"]) == (its["served"], its["storage"])
        assert bool(version.get("subresources")) == bool(its.get("subresources"))
        found = list(differences(version["schema"]["openAPIV3Schema"], its["schema"]["openAPIV3Schema"]))
        assert not found, "\n".join(found)


def test_every_object_of_every_definition_says_what_it_may_hold() -> None:
    """Without this the API server would prune what it does not know in silence, or keep it."""

    def walk(schema: Schema, path: str) -> Iterator[str]:
        if schema.get("x-kubernetes-preserve-unknown-fields"):
            yield path
        is_empty = not schema.get("additionalProperties") and not schema.get("properties")
        if schema.get("type") == "object" and path.count(".") > 1 and is_empty:
            yield path
        for name, child in (schema.get("properties") or {}).items():
            if (path, name) != ("", "metadata"):
                yield from walk(child, f"{path}.{name}")
        for keyword in ("items", "additionalProperties"):
            if isinstance(schema.get(keyword), dict):
                yield from walk(schema[keyword], f"{path}[]")

    open_ended = {
        name: list(walk(version["schema"]["openAPIV3Schema"], ""))
        for name, definition in definitions(OURS).items()
        for version in definition["spec"]["versions"]
    }
    # NFD keeps the elements of flags as empty objects: their keys are all they say.
    open_ended["nodefeatures.nfd.k8s-sigs.io"].remove(".spec.features.flags[].elements[]")
    assert not any(open_ended.values()), open_ended


def test_differences_are_found_where_there_are_some() -> None:
    real = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "b": {"enum": ["x", "y"]}}}
    ours = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x"]}, "c": {"type": "string"}}}
    assert [line.split(":")[0] for line in differences(ours, real)] == ["", ".a", ".b", ".c"]
