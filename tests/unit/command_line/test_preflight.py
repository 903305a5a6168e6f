"""`aks-infiniband preflight`: what is said before any money is spent, of files, charts and the login."""

import logging
import re
import sys

import pytest
from aks_infiniband_cli.azure.errors import remedy_of
from aks_infiniband_cli.azure.login import login
from aks_infiniband_cli.main import main
from azure.core.exceptions import ClientAuthenticationError, ServiceRequestError
from azure.identity import DefaultAzureCredential

from tests.unit.command_line.arm import Arm
from tests.unit.command_line.logged_in import ROOT, SUBSCRIPTION
from tests.unit.command_line.preflight_stacks import FAMILY


def test_on_a_narrow_terminal_a_command_stays_whole(
    preflight: list[str], arm: Arm, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arm.used = {FAMILY: 288}
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main([*preflight, "-s", "dev"]) == 1
    scope = f"--scope /subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/locations/southcentralus --limit-object"
    assert scope in capsys.readouterr().out


def test_where_azure_cannot_be_reached_a_login_is_not_what_helps() -> None:
    assert "proxy or firewall" in remedy_of(ServiceRequestError("Name or service not known"))
    assert "az login" in remedy_of(ClientAuthenticationError("no token"))


def test_of_a_missing_login_azures_client_says_nothing_beside_the_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("AZURE_CONFIG_DIR", "HOME", "PATH"):
        monkeypatch.setenv(name, "/nowhere")
    logging.getLogger("azure.identity").setLevel(logging.NOTSET)
    credential = login()
    logging.getLogger("azure.identity").warning("DefaultAzureCredential failed: fifteen lines")
    assert isinstance(credential, DefaultAzureCredential)
    assert caplog.text == ""


def test_which_subscription_must_be_said(
    preflight: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ARM_SUBSCRIPTION_ID")
    monkeypatch.delenv("AZURE_SUBSCRIPTION_ID", raising=False)
    assert main([*preflight, "-s", "dev"]) == 2
    assert "--subscription" in capsys.readouterr().err


def test_the_transcript_of_the_page_is_what_the_command_prints(
    preflight: list[str], arm: Arm, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "preflight.md").read_text(encoding="utf-8")
    (said,) = re.findall(r"^\$ aks-infiniband preflight -s dev\n((?:.*\n)+?)```", page, flags=re.MULTILINE)
    arm.used, arm.feature = {FAMILY: 288, "cores": 288}, "NotRegistered"
    assert main([*preflight, "-s", "dev"]) == 1
    assert capsys.readouterr().out.rstrip() == said.rstrip()
