"""The schema's objections to inputs, each with its place and the reason, before anything is made.

Pulumi's own provider passes over a key that it does not know, and hands a value of another type on.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pulumi

from aks_infiniband.handwritten import HandwrittenError, place, plain_data, shortened, word
from aks_infiniband.handwritten.form import did_you_mean

Property = Mapping[str, Any]
_SHAPES: Final[Mapping[str, tuple[Any, str]]] = {
    "string": (str, "text"),
    "boolean": (bool, "true or false"),
    "integer": ((int, float), "a whole number"),
    "number": ((int, float), "a number"),
    "array": (list, "a list"),
    "object": (dict, "a mapping"),
}
"""By the schema's type, that of Python, and what people call it."""


def refusals(schema: Mapping[str, Any], token: str, inputs: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The place of each input that is refused, and why. token: the component's."""
    resource = schema["resources"].get(token)
    if resource is None:
        known = [each.rpartition(":")[2] for each in schema["resources"]]
        asked = token.rpartition(":")[2]
        yield "", f"{word(asked)} is not a component; {did_you_mean(asked, known)}components are {', '.join(known)}"
        return
    try:
        plain_data(inputs)
    except HandwrittenError as error:
        yield place(error.path), str(error)
        return
    properties = resource.get("inputProperties", {})
    for key, about in properties.items():
        if about.get("plain") and told_by_a_resource(inputs.get(key)):
            yield key, "comes from another resource, or is a secret; must be written in the program"
    yield from _keys(schema, inputs, properties, resource.get("requiredInputs", []), "")


def told_by_a_resource(value: Any) -> bool:
    """True if any part of a value comes from another resource, or is a secret."""
    if isinstance(value, dict):
        return any(map(told_by_a_resource, value.values()))
    if isinstance(value, list):
        return any(map(told_by_a_resource, value))
    return isinstance(value, pulumi.Output)


def _keys(
    schema: Mapping[str, Any], inputs: Mapping[str, Any], known: Mapping[str, Property], required: list[str], path: str
) -> Iterator[tuple[str, str]]:
    for key in required:
        if inputs.get(key) is None:
            yield f"{path}{key}", "is missing; it must be given"
    for key, value in inputs.items():
        if key in known:
            yield from _value(schema, known[key], value, f"{path}{key}")
        else:
            yield (
                f"{path}{word(key)}",
                f"is not known; {did_you_mean(key, list(known))}known are {', '.join(known) or 'none'}",
            )


def _value(schema: Mapping[str, Any], about: Property, value: Any, path: str) -> Iterator[tuple[str, str]]:
    """A value that is None is left out, and an output of a resource is not yet known."""
    if value is None or isinstance(value, pulumi.Output):
        return
    kind = schema["types"].get(about.get("$ref", "").removeprefix("#/types/"), about)
    shape, in_words = _SHAPES.get(kind.get("type", ""), (object, ""))
    if not isinstance(value, shape) or (isinstance(value, bool) and kind.get("type") in ("integer", "number")):
        yield path, f"is {shortened(value)}; must be {in_words}"
    elif "enum" in kind:
        allowed = [each["value"] for each in kind["enum"]]
        if value not in allowed:
            yield path, f"is {shortened(value)}; {did_you_mean(value, allowed)}must be one of {', '.join(allowed)}"
    elif "properties" in kind:
        yield from _keys(schema, value, kind["properties"], kind.get("required", []), f"{path}.")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _value(schema, kind.get("items", {}), each, f"{path}[{number}]")
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _value(schema, kind.get("additionalProperties", {}), each, f"{path}.{word(key)}")
