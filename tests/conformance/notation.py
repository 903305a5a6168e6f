"""The notation of the facts for the fields of a custom resource, and its meaning as JSON schema.

A leaf is its type. A mapping names the fields of an object, those that are required with a `!` behind them; `"*"`
stands for any name. A list of one says what every item is. Further conditions of a value stand next to its fields,
behind a `$`:

    name!: string
    replicas: {$type: integer, $minimum: 1}
    env: [{name!: string, value: string}]
    labels: {"*": string}
"""

from collections.abc import Iterator, Mapping
from typing import Any

Fields = Any
"""A leaf, a mapping or a list, as above."""
Schema = Mapping[str, Any]

INT_OR_STRING = "int-or-string"
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_KEPT = (
    *("enum", "default", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties"),
    "pattern",
)
_STRUCTURE = ("type", "properties", "required", "items", "additionalProperties")
_LEFT_OUT = ("description", "format")


def shorten(schema: Schema) -> Fields:
    """A definition's schema in this notation: without descriptions, formats, and rules that only an API server reads.

    Raises ValueError for a schema outside the notation.
    """
    if schema.get("x-kubernetes-int-or-string"):
        return INT_OR_STRING
    # Kubernetes' special rules (`x-kubernetes-validations`, list types) are not JSON schema.
    rest = {key for key in schema if not key.startswith("x-kubernetes-")} - {*_KEPT, *_LEFT_OUT, *_STRUCTURE}
    if rest or "type" not in schema:
        raise ValueError(f"no word for {sorted(rest) or 'a value without a type'}")
    said = {f"${key}": schema[key] for key in _KEPT if key in schema}
    if schema.get(_PRESERVE):
        said["$open"] = True  # fields that the definition does not name are kept
    if schema["type"] == "array":
        items = [shorten(schema["items"])]
        return {"$items": items, **said} if said else items
    fields = dict(_fields(schema))
    if said and not fields:
        return {"$type": schema["type"], **said}
    return {**said, **fields} or schema["type"]


def _fields(schema: Schema) -> Iterator[tuple[str, Fields]]:
    properties = schema.get("properties") or {}
    required = set(schema.get("required") or ())
    if odd := [name for name in properties if name == "*" or name.startswith("$") or name.endswith("!")]:
        raise ValueError(f"no word for fields of the names {odd}")
    if missing := required - set(properties):
        raise ValueError(f"requires {sorted(missing)}, which it does not have")
    if isinstance(schema.get("additionalProperties"), Mapping):
        yield "*", shorten(schema["additionalProperties"])
    for name, value in properties.items():
        yield f"{name}!" if name in required else name, shorten(value)


def said(fields: Fields) -> dict[str, Any]:
    """The conditions of a value itself: its type, and the rest by JSON schema's words."""
    if isinstance(fields, str):
        return {"type": fields}
    if isinstance(fields, list) or "$items" in fields:
        return {"type": "array", **_beside(fields)}
    return {"type": "object", **_beside(fields)}


def _beside(fields: Fields) -> dict[str, Any]:
    return (
        {key[1:]: value for key, value in fields.items() if key[0] == "$" and key != "$items"}
        if isinstance(fields, dict)
        else {}
    )


def below(fields: Fields) -> dict[str, Fields]:
    """The fields of an object by name, `*` for those of any name, and the items of a list as `[]`."""
    if isinstance(fields, str):
        return {}
    if isinstance(fields, list) or "$items" in fields:
        (items,) = fields if isinstance(fields, list) else fields["$items"]
        return {"[]": items}
    return {name.removesuffix("!"): value for name, value in fields.items() if name[0] != "$"}


def required(fields: Fields) -> set[str]:
    """The names of the fields that an object must have."""
    return {name[:-1] for name in fields if name.endswith("!")} if isinstance(fields, dict) else set()


def schema_of(fields: Fields) -> dict[str, Any]:
    """The JSON schema that facts mean: a field that they do not name is an error, unless the definition is open."""
    if fields == INT_OR_STRING:
        return {"type": ["integer", "string"]}
    schema = said(fields)
    is_open = schema.pop("open", False)
    parts = {name: schema_of(part) for name, part in below(fields).items()}
    if "[]" in parts:
        return {**schema, "items": parts["[]"]}
    others = parts.pop("*", None)
    if parts:
        schema |= {"properties": parts, "required": sorted(required(fields)), "additionalProperties": False}
    if others or is_open:
        schema["additionalProperties"] = others or True
    return schema
