"""Cases as data: what is given, and the outcome, which a verb writes and a person reads in `git diff`.

A folder called cases has a file for each subject; a key in it is a rule, with its cases. The first word of a file's
name says what its cases are. A case has what differs from a default, and under `gives` the outcome.
"""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

GONE: Final = "gone"
"""In a change: the key is taken away."""
ALL: Final = "all"
"""In a change of a list: every item."""
GIVES: Final = "gives"
Case = Mapping[str, Any]
Rules = dict[str, dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Cases:
    """The cases of a folder. families: by the first word of a file's name, what gives the outcome of a case."""

    folder: Path
    families: Mapping[str, Callable[[Case], Any]]

    def subjects(self) -> Iterator[tuple[Path, Rules]]:
        """Every file with its rules."""
        for file in sorted(self.folder.glob("*.yaml")):
            yield file, yaml.safe_load(file.read_text(encoding="utf-8"))

    def by_rule(self) -> dict[str, list[tuple[Path, Case]]]:
        """The cases of every rule, each with its file, by the names of file and rule."""
        return {
            f"{file.stem}: {name}": [(file, case) for case in rule["cases"]]
            for file, rules in self.subjects()
            for name, rule in rules.items()
        }

    def outcome(self, file: Path, case: Case) -> Any:
        """The outcome of a case, as YAML has it."""
        family = self.families[file.stem.partition("-")[0]]
        return plain(family({key: value for key, value in case.items() if key != GIVES}))

    def write(self) -> None:
        """Write every file with the outcomes of today."""
        for file, rules in self.subjects():
            for rule in rules.values():
                rule["cases"] = [
                    {key: value for key, value in case.items() if key != GIVES} | {GIVES: self.outcome(file, case)}
                    for case in rule["cases"]
                ]
            file.write_text(as_yaml(rules), encoding="utf-8")


def as_yaml(rules: Rules) -> str:
    """Rules as a file has them."""
    return yaml.dump(rules, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=116)


def plain(value: Any) -> Any:
    """A value as YAML reads it back: mappings and lists of plain data."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


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


def changes(usual: Any, value: Any) -> Any:
    """The change that makes a value of the usual one, as `patched` takes it; {} if both are the same."""
    if isinstance(usual, dict) and isinstance(value, dict):
        gone = {key: GONE for key in usual if key not in value}
        return gone | {key: changes(usual.get(key), item) for key, item in value.items() if item != usual.get(key)}
    if isinstance(usual, list) and isinstance(value, list) and len(usual) == len(value):
        return {place: changes(usual[place], item) for place, item in enumerate(value) if item != usual[place]}
    return value if value != usual else {}


def replaced(value: Any, old: str, new: str) -> Any:
    """A value with another text in place of a text, in keys too."""
    if isinstance(value, dict):
        return {replaced(key, old, new): replaced(item, old, new) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [replaced(item, old, new) for item in value]
    return value.replace(old, new) if isinstance(value, str) else value


def refusing(outcome: Callable[[Case], Any], *errors: type[Exception]) -> Callable[[Case], Any]:
    """The outcome of a case, or name and words of one of these errors."""

    def outcome_or_refusal(case: Case) -> Any:
        try:
            return outcome(case)
        except errors as refused:
            return {"refused": f"{type(refused).__name__}: {refused}"}

    return outcome_or_refusal


class _Dumper(yaml.SafeDumper):
    """Small mappings and lists stand on one line, but not a rule."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def serialize_node(self, node: yaml.Node, parent: yaml.Node | None, index: Any) -> None:
        if isinstance(node, yaml.CollectionNode):
            node.flow_style = _length(node) < 100
        elif isinstance(node, yaml.ScalarNode) and "\n" in node.value:
            node.style = "|"
        super().serialize_node(node, parent, index)


def _length(node: Any) -> int:
    """The length of a node on one line; a text of several lines and a rule do not go there."""
    if isinstance(node, yaml.ScalarNode):
        return 999 if "\n" in node.value or node.value == "cases" else len(node.value) + 2
    parts = [part for pair in node.value for part in (pair if isinstance(pair, tuple) else (pair,))]
    return 2 + sum(map(_length, parts))
