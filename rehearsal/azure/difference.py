"""The differences between a resource's old and new inputs, and the decision whether they replace it, made as
azure-native does.

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
    """Every changed property, deepest first if objects and lists are compared item by item.

    force_new: paths (lists as `[]`) whose change, or a change below them, replaces the resource.
    """
    return list(_compare(_own(old), _own(new), _Place("", "", inherited=False), force_new))


def _own(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in inputs.items() if not key.startswith("__")}


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a value in the inputs.

    path: as shown to a person; pattern: the path with `[]` for every index; inherited: whether a change of something
    around it replaces the resource, and so a change of it does.
    """

    path: str
    pattern: str
    inherited: bool

    def key(self, name: str, *, replaces: bool) -> "_Place":
        """The place of an object's key."""
        if not self.path:
            return _Place(name, name, replaces)
        return _Place(f"{self.path}.{name}", f"{self.pattern}.{name}", replaces)

    def item(self, index: int, *, replaces: bool) -> "_Place":
        """The place of a list's item."""
        return _Place(f"{self.path}[{index}]", f"{self.pattern}[]", replaces)


def _compare(old: Any, new: Any, place: _Place, force_new: frozenset[str]) -> Iterator[Change]:
    replaces = place.inherited or place.pattern in force_new
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from _item(old, new, key, place.key(key, replaces=replaces), force_new)
    elif isinstance(old, list) and isinstance(new, list):
        older, newer = dict(enumerate(old)), dict(enumerate(new))
        for index in range(max(len(old), len(new))):
            yield from _item(older, newer, index, place.item(index, replaces=replaces), force_new)
    elif not _same(place.path, old, new):
        yield Change(place.path, "update", replaces)


def _item(
    old: Mapping[Any, Any], new: Mapping[Any, Any], key: Any, place: _Place, force_new: frozenset[str]
) -> Iterator[Change]:
    if key in old and key in new:
        yield from _compare(old[key], new[key], place, force_new)
    else:
        yield Change(place.path, "delete" if key in old else "add", place.inherited or place.pattern in force_new)


def _same(path: str, old: Any, new: Any) -> bool:
    """Resource IDs are equal if they differ in case alone; locations also if they differ in spaces."""
    if isinstance(old, str) and isinstance(new, str):
        if path == "location":
            return normalized_location(old) == normalized_location(new)
        if old.startswith("/subscriptions/"):
            return old.casefold() == new.casefold()
    return bool(old == new) and isinstance(old, bool) == isinstance(new, bool)


def normalized_location(location: str) -> str:
    """`South Central US` as `southcentralus`."""
    return location.replace(" ", "").lower()
