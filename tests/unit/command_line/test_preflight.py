"""`aks-infiniband preflight`: what is said before any money is spent, of files, charts and the login."""

import logging
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband.observability import definitions
from aks_infiniband_cli.azure.errors import remedy_of
from aks_infiniband_cli.azure.login import login
from aks_infiniband_cli.main import main
from aks_infiniband_cli.preflight import all_checks
from azure.core.exceptions import ClientAuthenticationError, ServiceRequestError
from azure.identity import DefaultAzureCredential

from tests.unit.command_line.arm import Arm
from tests.unit.command_line.logged_in import ROOT, SUBSCRIPTION, Credential
from tests.unit.command_line.preflight_stacks import FAMILY, Checked, stack


def test_on_a_narrow_terminal_a_command_stays_whole(
    preflight: list[str], arm: Arm, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arm.used = {FAMILY: 288}
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main([*preflight, "-s", "dev"]) == 1
    scope = f"--scope /subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/locations/southcentralus --limit-object"
    assert scope in capsys.readouterr().out


def test_paths_of_charts_are_those_of_the_stack_files_folder(checked: Checked, tmp_path: Path) -> None:
    (tmp_path / "network-operator").mkdir()
    (tmp_path / "network-operator" / "Chart.yaml").write_text("name: network-operator")
    chart = {"aks-infiniband:networkOperator": {"mode": "rdma-shared", "chart": {"name": "./network-operator"}}}
    _, lines = checked(*stack(tmp_path, **chart))
    assert lines["chart of the Network Operator"]["state"] == "pass"


def test_without_a_login_one_line_says_so(checked: Checked, monkeypatch: pytest.MonkeyPatch, arm: Arm) -> None:
    monkeypatch.setattr(all_checks, "login", lambda: Credential(ClientAuthenticationError("please run az login")))
    code, lines = checked("-s", "dev")
    assert code == 1
    assert lines["subscription"]["state"] == "fail"
    assert "az login" in lines["subscription"]["remedy"]
    assert lines["all else in Azure"]["state"] == "not checked"
    assert set(arm.asked) == {"/charts/index.yaml"}


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


def test_mistakes_in_the_settings_end_it(checked: Checked, tmp_path: Path, arm: Arm) -> None:
    code, lines = checked(*stack(tmp_path, pool={"count": 0}))
    assert code == 1
    assert list(lines) == ["settings"]
    assert "aks-infiniband:pools[0].count" in lines["settings"]["found"]
    assert arm.asked == []


@pytest.mark.usefixtures("kubeconfig_at_home")
def test_a_cluster_that_is_there_already_needs_nothing_of_azure(checked: Checked, arm: Arm) -> None:
    code, lines = checked("-s", "existing")
    assert code == 0
    assert lines["Azure"]["state"] == "not checked"
    assert set(arm.asked) == {"/charts/index.yaml"}


@pytest.mark.usefixtures("kubeconfig_at_home")
def test_somebody_elses_cluster_is_asked_for_what_its_prometheus_brings(
    checked: Checked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = yaml.safe_load((ROOT / "Pulumi.existing.yaml").read_text())["config"]
    there["aks-infiniband:observability"] = {"prometheus": "azure"}
    (tmp_path / "Pulumi.watched.yaml").write_text(yaml.safe_dump({"config": there}))
    (tmp_path / "values").symlink_to(ROOT / "values")

    def line(absent: list[str], unread: list[str]) -> Any:
        monkeypatch.setattr(definitions, "absent", lambda *_: (absent, unread))
        code, lines = checked("-s", "watched", "--folder", str(tmp_path))
        found = lines["definitions of Prometheus"]
        assert (code == 1) == (found["state"] == "fail")
        return found

    assert line([], [])["state"] == "pass"
    assert line([], ["PodMonitor: forbidden"])["state"] == "not checked"
    assert "az aks update --enable-azure-monitor-metrics" in line(["PodMonitor"], [])["remedy"]


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
