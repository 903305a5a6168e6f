"""The content of a custom resource definition, in the notation of the facts."""

from typing import Any

import yaml

from tests.conformance.notation import shorten


def distil(text: str) -> dict[str, Any]:
    """By name of the definition: group, scope, names and versions, each version with its fields."""
    found = {}
    for document in yaml.load_all(text, Loader=yaml.CSafeLoader):
        if document:
            spec = document["spec"]
            found[document["metadata"]["name"]] = {
                "group": spec["group"],
                "scope": spec["scope"],
                "names": spec["names"],
                "versions": {version["name"]: _version(version) for version in spec["versions"]},
            }
    return {"definitions": found}


def _version(version: dict[str, Any]) -> dict[str, Any]:
    return {
        "served": version["served"],
        "storage": version["storage"],
        "subresources": sorted(version.get("subresources") or ()),
        "fields": shorten(version["schema"]["openAPIV3Schema"]),
    }
