"""Stack files as data: each with what `load` refuses of it, or nothing. `python -m tests.unit.settings.cases` writes
the words again; read the diff.

A file is a subject, a key in it is a rule. `stack` has the keys that differ from a good stack, `without` those that are
left out; {kubeconfig} stands for the path of one, {folder} for the folder of the program. `called` is the name of the
stack, `day` the day on which it is read.
"""

import copy
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import pulumi
import yaml
from aks_infiniband import SettingsError, load
from aks_infiniband.stack.settings.consistency import cluster

from tests.cases import replaced
from tests.unit.components.stack_files import GOOD, KUBECONFIG

FOLDER: Final = Path(__file__).parent
_OURS: Final = "aks-infiniband:"
_PATH: Final = "{kubeconfig}"
_DAY: Final = "2026-11-22"
Subject = dict[str, dict[str, Any]]


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def subjects() -> Iterator[tuple[Path, Subject]]:
    """Every file with its rules."""
    for file in sorted(FOLDER.glob("*.yaml")):
        yield file, yaml.safe_load(file.read_text(encoding="utf-8"))


def configuration(case: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of a case."""
    good = {key: value for key, value in copy.deepcopy(GOOD).items() if _short(key) not in case.get("without", ())}
    changes: dict[str, Any] = replaced(case.get("stack", {}), _PATH, str(KUBECONFIG))
    return good | {_long(key): value for key, value in changes.items()}


def refused(case: Mapping[str, Any]) -> dict[str, str]:
    """The mistakes of a case, by key; a second mistake of a key is appended."""
    found: dict[str, str] = {}
    day = date.fromisoformat(case.get("day", _DAY))
    with (
        patch.object(cluster, "today", lambda: day),
        patch.object(pulumi, "get_project", lambda: "project"),
        patch.object(pulumi, "get_stack", lambda: case.get("called", "stack")),
    ):
        try:
            load(configuration(case))
        except SettingsError as error:
            for mistake in error.mistakes:
                key = _short(mistake.key)
                found[key] = f"{found[key]}\n{mistake.reason}" if key in found else mistake.reason
    told: dict[str, str] = replaced(replaced(found, str(KUBECONFIG), _PATH), str(Path.cwd()), "{folder}")
    return told


def write(file: Path, subject: Subject) -> None:
    """Write a file with the words of today."""
    for rule in subject.values():
        for case in rule["cases"]:
            case.pop("refused", None)
            if mistakes := refused(case):
                case["refused"] = mistakes
    text = yaml.dump(subject, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=116, default_flow_style=None)
    file.write_text(text, encoding="utf-8")


def _short(key: str) -> str:
    return key.removeprefix(_OURS)


def _long(key: str) -> str:
    return key if ":" in key else f"{_OURS}{key}"
