"""A program's requests as a document that people read: sorted, shortened, and without what differs from run to run."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from declared.program import Requests

_SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
"""The engine protocol's mark of a secret value (pulumi/pulumi, sdk/python/lib/pulumi/runtime/rpc.py)."""
_OPTIONS = (
    "protect",
    "retainOnDelete",
    "importId",
    "deleteBeforeReplace",
    "replaceOnChanges",
    "ignoreChanges",
    "additionalSecretOutputs",
    "customTimeouts",
    "hooks",
)
"""Options kept as the engine gets them. Left out are package versions and positions in source files."""
HASH = "<hash>"
"""In place of the end of a name that changes with all that the object holds."""
SOURCE = "<source>"
"""In place of a program's text: its name says that it is there."""
PROGRAMS = (".words.json", ".py", ".ptx", ".sh")
"""The ends of the names of programs and of the words that they read."""


def document(requests: Requests) -> dict[str, Any]:
    """Everything that a program declares: project, stack, resources and reads by URN, outputs.

    A URN goes without stack and project. If one resource names another, its type and name suffice.

    Raises ValueError if two resources have the same type and name, which would read as one.
    """
    prefix = f"urn:pulumi:{requests.stack}::{requests.project}::"
    urns = sorted([*requests.resources, *requests.reads])
    if len({label(urn) for urn in urns}) < len(urns):
        raise ValueError(f"two of these have the same type and name: {urns}")
    return {
        "project": requests.project,
        "stack": requests.stack,
        "resources": [
            {"urn": urn.removeprefix(prefix), **_resource(request)}
            for urn, request in sorted(requests.resources.items())
        ],
        "reads": [
            {"urn": urn.removeprefix(prefix), "id": request["id"], **_relations(request)}
            for urn, request in sorted(requests.reads.items())
        ],
        "outputs": _plain(requests.outputs),
    }


def label(urn: str) -> str:
    """A resource's own type and its name, of its URN, with or without what stands before the type."""
    types, _, name = urn.rpartition("::")
    return f"{types.rpartition('$')[2] if '$' in types else types.rpartition('::')[2]}::{name}"


def text(document: Any) -> str:
    """The document as YAML."""
    dumped: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)
    return dumped


def _resource(request: Mapping[str, Any]) -> dict[str, Any]:
    inputs = _plain(request.get("object", {}))
    if request["type"] == "kubernetes:batch/v1:Job":
        metadata = inputs["metadata"]
        metadata["name"] = re.sub(r"-[0-9a-f]{8}$", f"-{HASH}", metadata["name"])
    return {
        **_relations(request),
        **({"aliases": aliases} if (aliases := _aliases(request)) else {}),
        **{key: _plain(request[key]) for key in _OPTIONS if request.get(key)},
        **({"inputs": inputs} if inputs else {}),
    }


def _relations(request: Mapping[str, Any]) -> dict[str, Any]:
    """Its owner, and the resources that it waits for."""
    relations: dict[str, Any] = {}
    if not label(request["parent"]).startswith("pulumi:pulumi:Stack::"):
        relations["parent"] = label(request["parent"])
    if provider := request.get("provider"):
        # Behind the provider's URN stands its ID, which the engine makes up.
        relations["provider"] = label(provider.rpartition("::")[0])
    if waits := request.get("dependencies"):
        relations["dependencies"] = sorted(label(urn) for urn in waits)
    if goes_with := request.get("deletedWith"):
        relations["deletedWith"] = label(goes_with)
    return relations


def _aliases(request: Mapping[str, Any]) -> list[Any]:
    """The aliases that the program gives; those of type alone come from the SDK of azure-native, by the hundred."""
    aliases = [alias.get("spec", alias) for alias in request.get("aliases", [])]
    return [alias for alias in aliases if not request.get("custom") or set(alias) - {"type", "parentUrn"}]


def _plain(value: Any) -> Any:
    """A value with sorted keys; secrets say that they are, numbers are whole if they can be."""
    if isinstance(value, Mapping):
        if _SECRET.items() <= value.items():
            return {"<secret>": _plain(value["value"])}
        return {
            key: SOURCE
            if key.endswith((".words.json", ".py", ".ptx", ".sh")) and isinstance(item, str)
            else _plain(item)
            for key, item in sorted(value.items())
        }
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


class _Dumper(yaml.SafeDumper):
    """Text of several lines as several lines, and no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _string(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _string)
