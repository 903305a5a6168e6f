"""What changed between a resource's old and new inputs, and whether that replaces it, decided as azure-native does.

azure-native compares inputs with inputs; a changed property replaces the resource when it is part of the resource's
path or is marked so in the provider (pulumi-azure-native, provider/pkg/gen/replacement.go). Whatever else Azure refuses
to change in place is refused at the update, with Azure's error.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["add", "delete", "update"]


@dataclass(frozen=True, slots=True)
class Change:
    """One changed property. path: with indices, as shown to a person; replaces: whether it replaces the resource."""

    path: str
    kind: Kind
    replaces: bool


def changes(old: Mapping[str, Any], new: Mapping[str, Any], force_new: frozenset[str]) -> list[Change]:
    """Every changed property, deepest first where objects and lists are compared item by item.

    force_new: paths (lists as `[]`) whose change, or a change below them, replaces the resource.
    """
    return list(_compare(_own(old), _own(new), "", "", force_new, inherited=False))


def _own(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in inputs.items() if not key.startswith("__")}


def _compare(
    old: Any, new: Any, path: str, pattern: str, force_new: frozenset[str], *, inherited: bool
) -> Iterator[Change]:
    replaces = inherited or pattern in force_new
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in [*old, *(key for key in new if key not in old)]:
            where, shape = (f"{path}.{key}", f"{pattern}.{key}") if path else (key, key)
            yield from _item(old, new, key, where, shape, force_new, replaces)
    elif isinstance(old, list) and isinstance(new, list):
        older, newer = dict(enumerate(old)), dict(enumerate(new))
        for index in range(max(len(old), len(new))):
            yield from _item(older, newer, index, f"{path}[{index}]", f"{pattern}[]", force_new, replaces)
    elif not _same(path, old, new):
        yield Change(path, "update", replaces)


def _item(
    old: Mapping[Any, Any],
    new: Mapping[Any, Any],
    key: Any,
    path: str,
    pattern: str,
    force_new: frozenset[str],
    inherited: bool,
) -> Iterator[Change]:
    if key in old and key in new:
        yield from _compare(old[key], new[key], path, pattern, force_new, inherited=inherited)
    else:
        yield Change(path, "delete" if key in old else "add", inherited or pattern in force_new)


def _same(path: str, old: Any, new: Any) -> bool:
    """Locations and resource IDs are equal whatever their case and, for locations, spaces."""
    if isinstance(old, str) and isinstance(new, str):
        if path == "location":
            return normalized_location(old) == normalized_location(new)
        if old.startswith("/subscriptions/"):
            return old.casefold() == new.casefold()
    return bool(old == new) and isinstance(old, bool) == isinstance(new, bool)


def normalized_location(location: str) -> str:
    """`South Central US` as `southcentralus`."""
    return location.replace(" ", "").lower()
