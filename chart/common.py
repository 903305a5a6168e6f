"""The common parts of documents of several kinds, and their differences: a tree with slots."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from chart.pools import Kind
from chart.sentinels import ATOMS, Parsed

ABSENT: Final = object()
"""In place of a value that a kind does not have."""


@dataclass(frozen=True)
class Literal:
    """A value that is the same for all kinds."""

    value: Any


@dataclass(frozen=True)
class Slot:
    """A value that differs, by kind; ABSENT if a kind has none."""

    values: Mapping[Kind, Any]

    @property
    def optional(self) -> bool:
        """True if not every kind has it."""
        return any(value is ABSENT for value in self.values.values())

    def depends_on(self) -> tuple[str, ...]:
        """The fewest facts of a kind that decide which value it has."""
        names = tuple(next(iter(self.values)).facts)
        values = [(kind.facts, _comparable(value)) for kind, value in self.values.items()]
        for few in range(len(names) + 1):
            for chosen in combinations(names, few):
                if _decides(chosen, values):
                    return chosen
        raise AssertionError("all facts of a kind decide everything")


def _decides(chosen: Sequence[str], seen_values: Sequence[tuple[Mapping[str, str], str]]) -> bool:
    seen: dict[tuple[str, ...], str] = {}
    return all(seen.setdefault(tuple(facts[name] for name in chosen), value) == value for facts, value in seen_values)


def _comparable(value: Any) -> str:
    return "absent" if value is ABSENT else repr(value)


@dataclass(frozen=True)
class Fields:
    """A mapping whose values may differ."""

    entries: Mapping[str, "Node"]


@dataclass(frozen=True)
class Items:
    """A list whose items may differ."""

    items: Sequence["Node"]


@dataclass(frozen=True)
class Json:
    """A text that is JSON."""

    inner: "Node"


@dataclass(frozen=True)
class EachPool:
    """In a list, or among the fields of a mapping: these, once for each pool."""

    nodes: Sequence["Node"]
    keys: Sequence[str] = ()
    """Keys of fields."""


Node = Literal | Slot | Fields | Items | Json | EachPool


def common(by_kind: Mapping[Kind, Any]) -> Node:
    """The tree of documents, by kind."""
    values = list(by_kind.values())
    if all(value == values[0] and type(value) is type(values[0]) for value in values):
        return _tree(values[0])
    if all(isinstance(value, Parsed) for value in values):
        return Json(common({kind: value.value for kind, value in by_kind.items()}))
    if all(isinstance(value, dict) and value for value in values):  # one without fields would become null
        return Fields({key: _entry(key, by_kind) for key in dict.fromkeys(key for value in values for key in value)})
    if all(isinstance(value, list) for value in values) and len({len(value) for value in values}) == 1:
        return Items([common({kind: value[at] for kind, value in by_kind.items()}) for at in range(len(values[0]))])
    return Slot(by_kind)


def _entry(key: str, by_kind: Mapping[Kind, Any]) -> Node:
    if all(key in value for value in by_kind.values()):
        return common({kind: value[key] for kind, value in by_kind.items()})
    return Slot({kind: value.get(key, ABSENT) for kind, value in by_kind.items()})


def _tree(value: Any) -> Node:
    """A value that all kinds have, down to its texts."""
    if isinstance(value, Parsed):
        return Json(_tree(value.value))
    if value in ATOMS:
        return Literal(value)
    if isinstance(value, dict) and value:
        return Fields({key: _tree(item) for key, item in value.items()})
    if isinstance(value, list) and value:
        return Items([_tree(item) for item in value])
    return Literal(value)
