"""The real definitions and charts, found beside the checkout, and how documents are held against them."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT.parent / "shared" / "reference"
NETWORK, GPU = REFERENCE / "network-operator-26.4.1", REFERENCE / "gpu-operator-26.3.3"

needs_reference = pytest.mark.skipif(
    not REFERENCE.is_dir(), reason=f"the real definitions are not here: no {REFERENCE}"
)


@cache
def definition(file: Path, kind: str) -> dict[str, Any]:
    """JSON schema of a kind's stored version, as strict as the API server with field validation."""
    for document in yaml.safe_load_all(file.read_text()):
        if document and document.get("spec", {}).get("names", {}).get("kind") == kind:
            (version,) = [one for one in document["spec"]["versions"] if one["storage"]]
            return strict(version["schema"]["openAPIV3Schema"])
    raise AssertionError(f"{file.name} defines no {kind}")


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """A structural schema as JSON schema: an unknown field is an error, unless the definition keeps unknown ones."""
    result = {key: value for key, value in schema.items() if key != "format"}
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    if "properties" in schema:
        result["properties"] = {name: strict(value) for name, value in schema["properties"].items()}
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            result["additionalProperties"] = False
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            result[keyword] = strict(schema[keyword])
    return result


def assert_accepted(schema: dict[str, Any], document: dict[str, Any]) -> None:
    """Holds a document against a definition."""
    plain = json.loads(json.dumps(document))
    errors = [
        f"{error.json_path}: {error.message}" for error in jsonschema.Draft202012Validator(schema).iter_errors(plain)
    ]
    assert not errors, "; ".join(errors)


@cache
def chart_values(reference: Path) -> dict[str, Any]:
    """A chart's default values."""
    values: dict[str, Any] = yaml.safe_load((reference / "chart-values.yaml").read_text())
    return values


def unknown(values: dict[str, Any], defaults: dict[str, Any], path: str = "") -> Iterator[str]:
    """The values that a chart's defaults do not have. An affinity is Kubernetes' own, and so is an empty mapping."""
    for key, value in values.items():
        here = f"{path}.{key}"
        if key not in defaults:
            yield here
        elif isinstance(value, dict) and defaults[key] and key != "affinity":
            yield from unknown(value, defaults[key], here)
