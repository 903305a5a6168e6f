"""Pulumi's property values on the wire, as plain Python data and back.

An unknown value (an output that does not exist yet, at preview) is `UNKNOWN`; secrets and outputs arrive plain, because
the provider declares at its handshake that it takes neither.
"""

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf import json_format, struct_pb2

_UNKNOWN_WIRE: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""The Pulumi engine's form of an unknown value (sdk/go/common/resource/plugin, UnknownStringValue)."""
_SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
"""The key that marks a value as special (resource.SigKey): a secret, an asset, an output."""

Properties = dict[str, Any]


class Unknown:
    """An output whose value is not known yet."""

    def __repr__(self) -> str:
        return "<unknown>"

    def __deepcopy__(self, memo: object) -> "Unknown":
        return self


UNKNOWN: Final = Unknown()


def has_unknown(value: object) -> bool:
    """True if a value is unknown, or holds something unknown."""
    if isinstance(value, Mapping):
        return any(has_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(has_unknown(item) for item in value)
    return value is UNKNOWN


def from_struct(struct: struct_pb2.Struct) -> Properties:
    """Plain data of a Struct; properties that are null are left out, as azure-native does."""
    return {key: _plain(value) for key, value in json_format.MessageToDict(struct).items() if value is not None}


def to_struct(properties: Mapping[str, Any]) -> struct_pb2.Struct:
    """The Struct of plain data; properties that are None are left out."""
    struct = struct_pb2.Struct()
    struct.update({key: _wire(value) for key, value in properties.items() if value is not None})
    return struct


def _plain(value: Any) -> Any:
    if value == _UNKNOWN_WIRE:
        return UNKNOWN
    if isinstance(value, dict):
        if _SIGNATURE in value:
            return _plain(value["value"]) if "value" in value else UNKNOWN
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    # A Struct knows only doubles; whole numbers are what the API calls integers.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _wire(value: Any) -> Any:
    if value is UNKNOWN:
        return _UNKNOWN_WIRE
    if isinstance(value, Mapping):
        return {key: _wire(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_wire(item) for item in value]
    return value
