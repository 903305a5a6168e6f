"""Facts of nodes as data, each with the checks that they lead to. `python -m tests.unit.validation.cases` writes the
checks again; read the diff.

A file is a subject, a key in it is a rule, with its cases. `nodes` has what differs from the facts of a healthy node,
`pool` and `expected` what differs from the usual pool and from what is expected of it; the word gone takes a key or an
item away, and all stands for every item. `checks` has the checks that a healthy pool of as many nodes does not have,
`lacks` the names of those that only a healthy pool has.
"""

import copy
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.validation.payload.look.judge import judge_pool
from aks_infiniband.validation.pool_expectations import expectations

from tests.unit.validation.healthy import POOL, healthy

FOLDER: Final = Path(__file__).parent
GONE: Final = "gone"
ALL: Final = "all"
Rules = dict[str, dict[str, Any]]
Outcome = dict[str, Any]


def outcome_of_nodes(case: Mapping[str, Any]) -> Outcome:
    """The checks of a pool that differ from those of a healthy one."""
    changes = {**case.get("pool", {})}
    options = {"node_preparation": changes.pop("node_preparation", False)}
    if "size" in changes:
        changes["size"] = SIZES[changes["size"]]
    expected = patched(_counted(expectations(POOL.changed(**changes), **options), case), case.get("expected", {}))
    found = judge_pool({name: patched(healthy(), change) for name, change in case["nodes"].items()}, expected)
    well = judge_pool({name: healthy() for name in case["nodes"]}, _counted(expectations(POOL), case))
    here = {check["check"] for check in found}
    lacks = [name for name in dict.fromkeys(check["check"] for check in well) if name not in here]
    return {**_given("checks", _shown([check for check in found if check not in well])), **_given("lacks", lacks)}


FAMILIES: Final[Mapping[str, Callable[[Mapping[str, Any]], Outcome]]] = {"nodes": outcome_of_nodes}
"""By the first word of a file's name, what gives the outcome of a case."""
OUTCOMES: Final = ("checks", "lacks")
"""The keys of a case that the code gives."""


def subjects() -> Iterator[tuple[Path, Rules]]:
    """Every file with its rules."""
    for file in sorted(FOLDER.glob("*.yaml")):
        yield file, yaml.safe_load(file.read_text(encoding="utf-8"))


def outcome(file: Path, case: Mapping[str, Any]) -> Outcome:
    """What the code gives for a case, as YAML has it."""
    family = FAMILIES[file.stem.partition("-")[0]]
    return plain(family({key: value for key, value in case.items() if key not in OUTCOMES}))


def write(file: Path, rules: Rules) -> None:
    """Write a file with the outcomes of today."""
    for rule in rules.values():
        for case in rule["cases"]:
            found = outcome(file, case)
            for key in OUTCOMES:
                case.pop(key, None)
            case.update(found)
    file.write_text(yaml.dump(rules, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=116), encoding="utf-8")


def patched(value: Any, change: Any) -> Any:
    """A value with a change: of a mapping by key, of a list by position or of all its items; all else is replaced."""
    if not isinstance(change, dict) or not isinstance(value, dict | list):
        return copy.deepcopy(change)
    if isinstance(value, list):
        items = {place: patched(item, change[ALL]) if ALL in change else item for place, item in enumerate(value)}
        return list(patched(items, {place: item for place, item in change.items() if place != ALL}).values())
    made = {**value}
    for key, item in change.items():
        made[key] = patched(made.get(key), item)
    return {key: item for key, item in made.items() if item != GONE}


def plain(value: Any) -> Any:
    """A value as YAML reads it back: mappings and lists of plain data."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def _counted(expected: Any, case: Mapping[str, Any]) -> Any:
    return {**expected, "node_count": len(case["nodes"])}


def _given(key: str, value: list[Any]) -> Outcome:
    return {key: value} if value else {}


def _shown(checks: Any) -> list[dict[str, Any]]:
    """Checks without the keys that have no value; checks that differ in the device alone are one."""
    alike: dict[str, dict[str, Any]] = {}
    for check in checks:
        told = {key: value for key, value in check.items() if value is not None}
        key = str({**told, "device": None})
        if key in alike and "device" in told:
            alike[key]["device"] += f", {told['device']}"
        else:
            alike[key] = told
    return list(alike.values())


class _Dumper(yaml.SafeDumper):
    """Small mappings and lists stand on one line."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def serialize_node(self, node: yaml.Node, parent: yaml.Node | None, index: Any) -> None:
        if isinstance(node, yaml.CollectionNode):
            node.flow_style = _length(node) < 100
        super().serialize_node(node, parent, index)


def _length(node: Any) -> int:
    if isinstance(node, yaml.ScalarNode):
        return len(node.value) + 2
    parts = [part for pair in node.value for part in (pair if isinstance(pair, tuple) else (pair,))]
    return 2 + sum(map(_length, parts))
