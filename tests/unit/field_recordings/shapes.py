"""The shape of a body is its field paths and their types, by which the simulation is held against what was recorded."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tests.unit.field_recordings.recordings import excerpt

_TYPES = {bool: "true or false", int: "number", float: "number", str: "text", type(None): "null"}


def body(name: str) -> Any:
    """A recorded body: the excerpt of a recording is its JSON."""
    return json.loads(excerpt(name))


def flat(answer: Mapping[str, Any]) -> dict[str, Any]:
    """A body of Azure Resource Manager as azure-native shows it: the content of `properties` is next to it."""
    return {key: value for key, value in {**answer, **answer["properties"]}.items() if key != "properties"}


def shape(value: Any, maps: Collection[str] = ()) -> dict[str, str]:
    """Type by field path, as in `{"agentPoolProfiles[].count": "number"}`; what is empty has its own path only.

    maps: paths of objects whose keys are data and no fields, such as labels; their keys read `*`.
    """
    return dict(_walk(value, "", maps))


def differences(recorded: Any, simulated: Any, maps: Collection[str] = ()) -> dict[str, str]:
    """Fields that the simulation leaves out, adds or has as another type, by field path."""
    real, made = shape(recorded, maps), shape(simulated, maps)
    return (
        {path: "left out" for path in real if path not in made}
        | {path: "added" for path in made if path not in real}
        | {path: f"{made[path]}, not {kind}" for path, kind in real.items() if made.get(path, kind) != kind}
    )


def _walk(value: Any, path: str, maps: Collection[str]) -> Iterator[tuple[str, str]]:
    if path:
        yield path, _TYPES.get(type(value), "object" if isinstance(value, Mapping) else "list")
    if isinstance(value, Mapping):
        for key, item in value.items():
            name = "*" if path in maps else key
            yield from _walk(item, f"{path}.{name}" if path else name, maps)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, f"{path}[]", maps)
