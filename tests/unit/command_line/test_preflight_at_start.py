"""`aks-infiniband:preflight`: `pulumi up` checks first, by the command's own checks, and makes nothing if one fails."""

import sys
from pathlib import Path

import pulumi
import pytest
import yaml
from aks_infiniband.stack.load import load
from aks_infiniband_cli.preflight.at_start import PreflightError, check_first

from declared import program
from tests.unit.command_line.arm import Arm
from tests.unit.command_line.logged_in import ROOT
from tests.unit.command_line.preflight_stacks import FAMILY

pytestmark = pytest.mark.usefixtures("endpoint")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> program.Requests:
    """The program's requests to the engine."""
    made = program.Requests("aks-infiniband", "dev")
    monkeypatch.setattr(program, "Requests", lambda *_: made)
    return made


@pytest.fixture
def enabled(project: Path) -> Path:
    """The project with a stack that enables it."""
    document = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())
    document["config"]["aks-infiniband:preflight"] = True
    (project / "Pulumi.dev.yaml").write_text(yaml.safe_dump(document))
    return project


def test_where_a_check_fails_up_fails_with_its_line_and_nothing_is_made(
    arm: Arm, enabled: Path, made: program.Requests
) -> None:
    arm.used = {FAMILY: 288}
    with pytest.raises(PreflightError, match=r"1 of \d+ checks fail, and nothing was changed") as raised:
        program.run(enabled, "dev")
    assert "288 of 384 in use in southcentralus: 96 short" in str(raised.value)
    assert "az quota update" in str(raised.value)
    assert "pass " not in str(raised.value), "what is fine is not among what fails"
    assert made.resources == {}


def test_where_none_fails_everything_is_made(arm: Arm, enabled: Path, made: program.Requests) -> None:
    program.run(enabled, "dev")
    assert arm.asked
    assert any("ManagedCluster::" in urn for urn in made.resources)


def test_at_preview_nothing_is_checked(arm: Arm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    check_first(load(yaml.safe_load((ROOT / "Pulumi.sriov.yaml").read_text())["config"]))
    assert arm.asked == []


def test_without_a_subscription_it_says_where_one_is_named(
    enabled: Path, made: program.Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARM_SUBSCRIPTION_ID")
    monkeypatch.delenv("AZURE_SUBSCRIPTION_ID", raising=False)
    with pytest.raises(PreflightError, match="azure-native:subscriptionId"):
        program.run(enabled, "dev")


def test_without_azures_clients_it_says_how_they_are_installed(
    enabled: Path, made: program.Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "aks_infiniband_cli.preflight.all_checks")
    monkeypatch.setitem(sys.modules, "azure.core.exceptions", None)
    with pytest.raises(PreflightError, match=r"pip install './command_line\[azure\]'"):
        program.run(enabled, "dev")
