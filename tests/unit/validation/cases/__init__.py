"""Outcomes of judged data: `python -m tests.unit.validation.cases` writes it again; read the diff.

A file is a subject, a key in it is a rule, with its cases. The first word of a file's name says what its cases are, see
`families`. A case has what differs from what is healthy: the word gone takes a key or an item away, and all stands for
every item of a list. `checks` has the checks that what is healthy does not have, `lacks` the names of those that only
it has.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from tests.unit.validation.cases.families import FAMILIES, Outcome

FOLDER: Final = Path(__file__).parent
OUTCOMES: Final = ("checks", "lacks")
"""The keys of a case that the code gives."""
Rules = dict[str, dict[str, Any]]


def subjects() -> Iterator[tuple[Path, Rules]]:
    """Every file with its rules."""
    for file in sorted(FOLDER.glob("*.yaml")):
        yield file, yaml.safe_load(file.read_text(encoding="utf-8"))


def outcome(file: Path, case: Mapping[str, Any]) -> Outcome:
    """The outcome of a case, as YAML has it."""
    family = FAMILIES[file.stem.partition("-")[0]]
    found: Outcome = plain(family({key: value for key, value in case.items() if key not in OUTCOMES}))
    return found


def write(file: Path, rules: Rules) -> None:
    """Write a file with the outcomes of today."""
    for rule in rules.values():
        for case in rule["cases"]:
            found = outcome(file, case)
            for key in OUTCOMES:
                case.pop(key, None)
            case.update(found)
    file.write_text(yaml.dump(rules, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=116), encoding="utf-8")


def plain(value: Any) -> Any:
    """A value as YAML reads it back: mappings and lists of plain data."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


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
