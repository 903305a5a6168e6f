"""Compares what the simulated Azure takes with Azure's published definitions: `python -m tests.azure_definitions PATH`.

PATH is a checkout of Azure/bicep-types-az, or a part of it: Microsoft's rendering of Azure/azure-rest-api-specs, a
`types.json` for each provider and API version. The definitions are compared with the argument classes of the pinned
azure-native, at the API version that it sends; docs/records/facts.yaml has the differences. Nothing is committed.
"""

import enum
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, get_args, get_origin

from pulumi import _types as pulumi_types

from rehearsal.azure.kinds import Kind
from rehearsal.azure.models import alternatives
from rehearsal.azure.resources import KINDS

_READ_ONLY: Final = 2
"""The bit of a property's flags (Azure/bicep-types, ObjectTypePropertyFlags)."""
_AZURES_OWN: Final = frozenset({"id", "name", "type", "apiVersion"})
"""Properties of every body that Azure, or the request's path, fills in."""

Types = list[dict[str, Any]]
Node = Mapping[str, Any]


def _at(types: Types, reference: Mapping[str, str]) -> Node:
    return types[int(reference["$ref"].removeprefix("#/"))]


def _properties(types: Types, node: Node) -> dict[str, Node]:
    """All properties of an object, by the name that azure-native has for them."""
    found = {**node.get("baseProperties", {}), **node.get("properties", {})}
    return {re.sub("-(.)", lambda dash: dash[1].upper(), name): own for name, own in found.items()}


def _is_read_only(types: Types, own: Node) -> bool:
    """True if a request cannot have the property: it, or all that is in it, is Azure's to write."""
    inner = _properties(types, _at(types, own["type"]))
    return bool(own["flags"] & _READ_ONLY) or (bool(inner) and all(_is_read_only(types, own) for own in inner.values()))


def _values(types: Types, node: Node) -> frozenset[str]:
    """Values of an enumeration; an open one has a string among its elements."""
    elements = [_at(types, each) for each in node.get("elements", ())] or [node]
    return frozenset(str(each["value"]) for each in elements if each["$type"] == "StringLiteralType")


def _differences(types: Types, node: Node, hint: Any, path: str, seen: frozenset[type]) -> Iterator[str]:
    for kind in alternatives(hint):
        origin = get_origin(kind)
        if node["$type"] == "ArrayType" and origin is not None:
            yield from _differences(types, _at(types, node["itemType"]), get_args(kind)[-1], f"{path}[]", seen)
        elif isinstance(kind, type) and issubclass(kind, enum.Enum):
            ours, theirs = frozenset(str(member.value) for member in kind), _values(types, node)
            if ours != theirs:
                yield f"{path}: azure-native alone has {sorted(ours - theirs)}, Azure alone {sorted(theirs - ours)}"
        elif origin is not None and "additionalProperties" in node:
            yield from _differences(
                types, _at(types, node["additionalProperties"]), get_args(kind)[-1], f"{path}{{}}", seen
            )
        elif isinstance(kind, type) and pulumi_types.is_input_type(kind) and kind not in seen:
            yield from _of_object(types, node, kind, path, seen | {kind}, frozenset())


def _of_object(
    types: Types, node: Node, arguments: type, path: str, seen: frozenset[type], in_path: frozenset[str]
) -> Iterator[str]:
    hints = pulumi_types.input_type_types(arguments)
    ours = {name: hints[name] for name in pulumi_types.input_type_py_to_pulumi_names(arguments).values()}
    theirs = _properties(types, node)
    if "properties" in theirs and "properties" not in ours:  # azure-native lifts what is in it
        theirs |= _properties(types, _at(types, theirs.pop("properties")["type"]))
    for name in sorted(ours.keys() - theirs.keys() - in_path - _AZURES_OWN):
        yield f"{path}.{name}: azure-native has it, Azure has not"
    for name in sorted(theirs.keys() - ours.keys() - _AZURES_OWN):
        if not _is_read_only(types, theirs[name]):
            yield f"{path}.{name}: Azure has it, azure-native has not"
    for name in sorted(ours.keys() & theirs.keys()):
        if not _is_read_only(types, theirs[name]):
            yield from _differences(types, _at(types, theirs[name]["type"]), ours[name], f"{path}.{name}", seen)


def differences(kind: Kind, types: Types) -> list[str] | None:
    """The differences between azure-native's arguments of a type and its definition; None if the types do not define
    it.
    """
    wanted = f"{kind.asked_type}@{kind.api_version}".casefold()
    for each in types:
        if each["$type"] == "ResourceType" and each["name"].casefold() == wanted:
            in_path = frozenset(kind.parameters)
            return list(_of_object(types, _at(types, each["body"]), kind.arguments, "", frozenset(), in_path))
    return None


def main(checkout: Path) -> int:
    """Print the differences of every simulated type; 1 if there are any, or if a type is not defined there."""
    failed = False
    for kind in KINDS.values():
        found: list[str] | None = None
        for path in sorted(checkout.rglob(f"{kind.arm_type.partition('/')[0].lower()}/{kind.api_version}/types.json")):
            found = differences(kind, json.loads(path.read_text()))
            if found is not None:
                break
        said = ["is not defined in the checkout"] if found is None else found
        print(f"{kind.arm_type} {kind.api_version}: {len(said) or 'no'} difference{'s'[: len(said) != 1]}")
        print("".join(f"  {line}\n" for line in said), end="")
        failed = failed or bool(said)
    return int(failed)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
