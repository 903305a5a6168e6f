"""Stacks and subscriptions, and the lines of a preflight."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
import yaml
from aks_infiniband.observability import definitions
from aks_infiniband_cli.preflight import all_checks
from aks_infiniband_cli.teardown import leftovers
from azure.core.exceptions import ClientAuthenticationError

from tests.cases import Case, patched, replaced
from tests.unit.command_line.arm import Arm
from tests.unit.command_line.logged_in import ROOT, SUBSCRIPTION, Credential, logged_in
from tests.unit.components.stack_files import KUBECONFIG

_ID: Final = "{subscription}"


def outcome_of_preflight(case: Case) -> dict[str, Any]:
    """The lines that differ from the usual ones, and the checks that only these have. Usual is the stack dev, or
    another `base`, in a subscription with room for it: the lines of a case without differences. `stack` has the
    differences from that stack, `azure` those of `Arm`, `registry` those of its registry. `files` are in the folder,
    `definitions` are Prometheus' that are absent or could not be read, and `login` has the words of one that fails.
    """
    usual = _usual(case.get("base", "dev"))
    if not {*case} - {"base"}:
        return usual
    lines = _lines(case)
    differing = {check: line for check, line in lines.items() if line != usual.get(check)}
    gone = [check for check in usual if check not in lines]
    return {**differing, **({"without": gone} if gone else {})}


@cache
def _usual(base: str) -> dict[str, str]:
    return _lines({"base": base})


def _lines(case: Case) -> dict[str, str]:
    """By check: state, what was found, and what to do."""
    with stack_in_azure(case) as (arm, file, endpoint):
        lines = all_checks.check_stack_file(file, SUBSCRIPTION, endpoint)
    told = {line.check: f"{line.state}: {line.found}{f'; do: {line.remedy}' if line.remedy else ''}" for line in lines}
    asked = {*arm.asked} - {"/charts/index.yaml"}
    shown: dict[str, str] = shortened(told if asked else {**told, "requests to Azure": "none"}, file.parent)
    return {check: re.sub(r"(ConnectError): .*", r"\1", line) for check, line in shown.items()}


def shortened(value: Any, folder: Path) -> Any:
    """A value without what differs from machine to machine."""
    return replaced(replaced(value, f"{folder}/", ""), SUBSCRIPTION, _ID)


@contextmanager
def stack_in_azure(case: Case) -> Iterator[tuple[Arm, Path, str]]:
    """A subscription, the stack file of a case in a folder of the project, and Azure's URL."""
    case, arm, base = replaced(case, _ID, SUBSCRIPTION), Arm(), f"Pulumi.{case.get('base', 'dev')}.yaml"
    vars(arm).update(_as_arm(case.get("azure", {})))
    vars(arm.registry).update(case.get("registry", {}))
    stack = patched(yaml.safe_load((ROOT / base).read_text()), {"config": _long(case.get("stack", {}))})
    with (
        TemporaryDirectory() as place,
        pytest.MonkeyPatch.context() as patch,
        logged_in(arm, Path(place), patch) as endpoint,
    ):
        folder = Path(place)
        for name in case.get("project", ("values", "Pulumi.yaml")):
            (folder / name).symlink_to(ROOT / name)
        files = {base: yaml.safe_dump(stack), ".kube/config": KUBECONFIG.read_text(), **case.get("files", {})}
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        patch.setenv("HOME", str(folder))
        if "definitions" in case:
            patch.setattr(definitions, "absent", lambda *_: case["definitions"])
        for module in (all_checks, leftovers) if "login" in case else ():
            patch.setattr(module, "login", lambda: Credential(ClientAuthenticationError(case["login"])))
        yield arm, folder / base, endpoint


def _long(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of a stack file; the namespace is this program's if none is given."""
    return {key if ":" in key else f"aks-infiniband:{key}": change for key, change in changes.items()}


def _as_arm(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of `Arm`: lists of YAML are its tuples, and `subscription` changes the usual one."""
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in changes.items()}
    if "subscription" in changes:
        fields["subscription"] = Arm().subscription.model_copy(update=changes["subscription"])
    return fields
