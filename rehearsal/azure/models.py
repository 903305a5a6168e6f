"""Checks inputs against the published model of the API version that is sent: azure-native's argument classes.

Nothing is listed here: property names, types, what is required and which values exist are read from
`pulumi_azure_native`. `tests/azure_definitions.py` compares those with Azure's own definitions.
"""

import enum
import inspect
import types
import typing
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

import pulumi
from pulumi import _types as pulumi_types

from rehearsal.azure.wire import UNKNOWN


@dataclass(frozen=True, slots=True)
class Failure:
    """One refused property: its path, and why."""

    path: str
    reason: str


def check_arguments(arguments: type, inputs: Mapping[str, Any]) -> list[Failure]:
    """The inputs of a resource that its azure-native argument class does not allow."""
    own = {key: value for key, value in inputs.items() if not key.startswith("__") and key != "azureApiVersion"}
    return list(_check_object(own, _argument_fields(arguments), ""))


@dataclass(frozen=True, slots=True)
class _Field:
    hint: Any
    required: bool = False
    open_enumeration: bool = False


@cache
def _argument_fields(arguments: type) -> dict[str, _Field]:
    parameters = inspect.signature(arguments.__init__).parameters  # type: ignore[misc]
    names = pulumi_types.input_type_py_to_pulumi_names(arguments)
    hints = pulumi_types.input_type_types(arguments)
    aks_type = arguments.__module__.startswith("pulumi_azure_native.containerservice")
    return {
        wire: _Field(
            hint=hints[wire],
            required=parameters[name].default is inspect.Parameter.empty,
            # AKS itself refuses an OS SKU that the API version does not have, in words that are recorded.
            open_enumeration=aks_type and wire == "osSKU",
        )
        for name, wire in names.items()
    }


def _check_object(value: Mapping[str, Any], fields: Mapping[str, _Field], path: str) -> Iterator[Failure]:
    for name, field in fields.items():
        if field.required and name not in value:
            where = _join(path, name)
            yield Failure(where, f"missing required property '{where}'")
    for name, item in value.items():
        where = _join(path, name)
        if name not in fields:
            nearest = get_close_matches(name, list(fields), n=1)
            hint = f"; did you mean '{nearest[0]}'?" if nearest else f". Known here: {', '.join(sorted(fields))}."
            yield Failure(where, f"unknown property '{where}' (value {item!r}){hint}")
        else:
            yield from _check_value(item, fields[name], where)


def _check_value(value: Any, field: _Field, path: str) -> Iterator[Failure]:
    kinds = list(alternatives(field.hint))
    if value is UNKNOWN or Any in kinds:
        return
    failures = [list(_check_kind(value, kind, field, path)) for kind in kinds]
    enumerations = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, enum.Enum)]
    if enumerations and isinstance(value, str) and not field.open_enumeration:
        failures = [list(_check_kind(value, kind, field, path)) for kind in enumerations]
    yield from min(failures, key=len, default=[])


_SCALARS: Final[dict[type, tuple[tuple[type, ...], str]]] = {
    str: ((str,), "a string"),
    bool: ((bool,), "true or false"),
    int: ((int,), "an integer"),
    float: ((int, float), "a number"),
}


def _check_kind(value: Any, kind: Any, field: _Field, path: str) -> Iterator[Failure]:
    origin = typing.get_origin(kind)
    if origin in (list, Sequence):
        yield from _check_list(value, kind, field, path)
    elif origin in (dict, Mapping):
        yield from _check_mapping(value, kind, field, path)
    elif isinstance(kind, type) and issubclass(kind, enum.Enum):
        yield from _check_enumeration(value, kind, field, path)
    elif kind in _SCALARS:
        accepted, words = _SCALARS[kind]
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
            yield Failure(path, f"'{path}' should be {words} but is {value!r}")
    elif isinstance(kind, type):
        yield from _check_model(value, kind, path)


def _check_list(value: Any, kind: Any, field: _Field, path: str) -> Iterator[Failure]:
    if not isinstance(value, list):
        yield Failure(path, f"'{path}' should be a list but is {value!r}")
        return
    item = _Field(typing.get_args(kind)[0], open_enumeration=field.open_enumeration)
    for index, element in enumerate(value):
        yield from _check_value(element, item, f"{path}[{index}]")


def _check_mapping(value: Any, kind: Any, field: _Field, path: str) -> Iterator[Failure]:
    if isinstance(value, list) and path.endswith("userAssignedIdentities"):
        return  # azure-native turns its list of IDs into the API's object
    if not isinstance(value, Mapping):
        yield Failure(path, f"'{path}' should be an object but is {value!r}")
        return
    item = _Field(typing.get_args(kind)[1], open_enumeration=field.open_enumeration)
    for key, element in value.items():
        yield from _check_value(element, item, _join(path, key))


def _check_enumeration(value: Any, kind: type[enum.Enum], field: _Field, path: str) -> Iterator[Failure]:
    values = [str(member.value) for member in kind]
    if not isinstance(value, str) or (value not in values and not field.open_enumeration):
        yield Failure(path, f"'{path}' is {value!r}; it must be one of {', '.join(map(repr, values))}")


def _check_model(value: Any, kind: type, path: str) -> Iterator[Failure]:
    if not pulumi_types.is_input_type(kind):
        return
    if not isinstance(value, Mapping):
        yield Failure(path, f"'{path}' should be an object but is {value!r}")
        return
    yield from _check_object(value, _argument_fields(kind), path)


def alternatives(hint: Any) -> Iterator[Any]:
    """The plain types of a hint: no None, and nothing that stands for a value that comes later."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        for member in typing.get_args(hint):
            yield from alternatives(member)
    elif hint not in (type(None), pulumi.Output) and origin not in (Awaitable, pulumi.Output):
        yield hint


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
