"""Stacks and subscriptions, and the lines of a preflight."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
import yaml
from aks_infiniband_cli.preflight import all_checks

from tests.cases import Case, patched, replaced
from tests.unit.command_line.arm import Arm
from tests.unit.command_line.logged_in import ROOT, SUBSCRIPTION, logged_in

_DEV: Final = "Pulumi.dev.yaml"
_ID: Final = "{subscription}"


def outcome_of_preflight(case: Case) -> dict[str, Any]:
    """The lines that differ from the usual ones, and the checks that only these have. Usual is the stack dev in a
    subscription with room for it: the lines of a case without differences. `stack` has the differences from dev,
    `azure` those of `Arm`, `registry` those of its registry.
    """
    if not case:
        return _usual()
    lines, usual = _lines(replaced(case, _ID, SUBSCRIPTION)), _usual()
    differing = {check: line for check, line in lines.items() if line != usual.get(check)}
    gone = [check for check in usual if check not in lines]
    return {**differing, **({"without": gone} if gone else {})}


@cache
def _usual() -> dict[str, str]:
    return _lines({})


def _lines(case: Case) -> dict[str, str]:
    """By check: state, what was found, and what to do."""
    arm = Arm()
    vars(arm).update(_as_arm(case.get("azure", {})))
    vars(arm.registry).update(case.get("registry", {}))
    stack = patched(yaml.safe_load((ROOT / _DEV).read_text()), {"config": _long(case.get("stack", {}))})
    with (
        TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
        logged_in(arm, Path(folder), patch) as endpoint,
    ):
        for name in ("values", "Pulumi.yaml"):
            (Path(folder) / name).symlink_to(ROOT / name)
        file = Path(folder) / _DEV
        file.write_text(yaml.safe_dump(stack))
        lines = all_checks.check_stack_file(file, SUBSCRIPTION, endpoint)
    told = {line.check: f"{line.state}: {line.found}{f'; do: {line.remedy}' if line.remedy else ''}" for line in lines}
    shown: dict[str, str] = replaced(replaced(told, f"{folder}/", ""), SUBSCRIPTION, _ID)
    return shown


def _long(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of a stack file; the namespace is this program's if none is given."""
    return {key if ":" in key else f"aks-infiniband:{key}": change for key, change in changes.items()}


def _as_arm(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of `Arm`: lists of YAML are its tuples, and `subscription` changes the usual one."""
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in changes.items()}
    if "subscription" in changes:
        fields["subscription"] = Arm().subscription.model_copy(update=changes["subscription"])
    return fields
