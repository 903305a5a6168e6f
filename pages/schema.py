"""The JSON schema of a whole stack file, for editors: completion, and mistakes underlined while typing.

The schema is generated from the models. Rules on two values together are found by `load` alone.
"""

from typing import Any, Final

from aks_infiniband.facts.baselines import FIGURES
from aks_infiniband.stack.load import REGISTRY_CREDENTIALS
from aks_infiniband.stack.settings.mistakes import LOCATION, NAMESPACE
from aks_infiniband.stack.settings.model import Settings

_DIALECT: Final = "http://json-schema.org/draft-07/schema#"
"""The newest that every YAML editor reads."""


def stack_file_schema() -> dict[str, Any]:
    """The schema of Pulumi.<stack>.yaml; keys of other namespaces are left to others."""
    whole = Settings.model_json_schema(by_alias=True, mode="validation")
    definitions = {name: _tidy(definition) for name, definition in whole["$defs"].items()}
    definitions["ValidationOptions"]["properties"]["thresholds"]["propertyNames"] = {"enum": list(FIGURES)}
    ours = {
        LOCATION if key == "location" else f"{NAMESPACE}:{key}": value
        for key, value in _tidy(whole)["properties"].items()
    }
    ours[REGISTRY_CREDENTIALS] = {
        "description": "What logs in to the registry of images: a Docker config as JSON, set with "
        f"`pulumi config set --secret {REGISTRY_CREDENTIALS}`. The one setting that is a secret.",
        "type": "object",
        "properties": {"secure": {"type": "string"}},
        "required": ["secure"],
        "additionalProperties": False,
    }
    config = {
        "type": "object",
        "properties": ours,
        "propertyNames": {"anyOf": [{"enum": list(ours)}, {"not": {"pattern": f"^{NAMESPACE}:"}}]},
        "required": [f"{NAMESPACE}:pools"],
        "oneOf": [
            {"required": [f"{NAMESPACE}:cluster", LOCATION]},
            {"required": [f"{NAMESPACE}:existingCluster"]},
        ],
    }
    return {
        "$schema": _DIALECT,
        "title": "Stack file of aks-infiniband",
        "type": "object",
        "properties": {"config": config},
        "required": ["config"],
        "definitions": definitions,
    }


def _tidy(node: Any) -> Any:
    """Without parts that do not help an author: titles, null if it is the default, defaults of whole sections."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node.replace("#/$defs/", "#/definitions/") if isinstance(node, str) else node
    if "properties" in node:  # its keys are an author's words, not the schema's
        rest = {key: _tidy(value) for key, value in node.items() if key not in {"properties", "title", "$defs"}}
        return {**rest, "properties": {key: _tidy(value) for key, value in node["properties"].items()}}
    kept = {key: _tidy(value) for key, value in node.items() if key != "title"}
    if kept.get("default", ...) is None:
        kept = _without_null(kept)
    if kept.get("default", ...) in (None, []) or isinstance(kept.get("default"), dict):
        del kept["default"]
    if isinstance(kept.get("description"), str):
        kept["description"] = " ".join(kept["description"].split())
    if "patternProperties" in kept:
        kept["additionalProperties"] = False
    return _described(kept)


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    choices = [choice for choice in node.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        return {**choices[0], **{key: value for key, value in node.items() if key != "anyOf"}}
    return node


def _described(node: dict[str, Any]) -> dict[str, Any]:
    """The dialect reads nothing next to $ref."""
    if "$ref" not in node or len(node) == 1:
        return node
    return {"allOf": [{"$ref": node["$ref"]}], **{key: value for key, value in node.items() if key != "$ref"}}
