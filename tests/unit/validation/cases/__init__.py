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

from tests.cases import Rules, as_yaml, plain
from tests.unit.validation.cases.families import FAMILIES, Outcome

FOLDER: Final = Path(__file__).parent
OUTCOMES: Final = ("checks", "lacks")
"""The keys of a case that the code gives."""


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
    file.write_text(as_yaml(rules), encoding="utf-8")
