"""`aks-infiniband preflight`: what Azure would refuse is said before any money is spent."""

from pathlib import Path

import pytest
from aks_infiniband_cli.azure.login import endpoint_of, login
from aks_infiniband_cli.azure.rehearsed import VARIABLE
from aks_infiniband_cli.console import CommandError
from azure.identity import ClientSecretCredential, DefaultAzureCredential

from tests.unit.command_line.arm import Arm
from tests.unit.command_line.preflight_stacks import Checked, stack


def test_it_only_reads(checked: Checked, arm: Arm) -> None:
    checked("-s", "dev")
    assert len(arm.asked) == 14  # the server answers GET only


def test_kubelogin_is_looked_for_where_the_login_needs_it(
    checked: Checked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    _, lines = checked(*stack(tmp_path, cluster={"access": {"entraId": True}}))
    assert lines["kubelogin"]["state"] == "fail"
    (tmp_path / "kubelogin").touch(mode=0o755)
    _, lines = checked(*stack(tmp_path, cluster={"access": {"entraId": True}}))
    assert lines["kubelogin"]["state"] == "pass"


def test_the_cloud_is_that_of_the_stack() -> None:
    assert endpoint_of({}) == "https://management.azure.com"
    assert endpoint_of({"azure-native:environment": "usgovernment"}) == "https://management.usgovcloudapi.net"
    with pytest.raises(CommandError, match="public, usgovernment, china"):
        endpoint_of({"azure-native:environment": "moon"})


def test_pulumis_variables_of_a_service_principal_log_in_here_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ARM_TENANT_ID", "ARM_CLIENT_ID", "ARM_CLIENT_SECRET"):
        monkeypatch.setenv(name, "11111111-2222-4333-8444-555555555555")
    assert isinstance(login(), ClientSecretCredential)
    monkeypatch.delenv("ARM_CLIENT_SECRET")
    assert isinstance(login(), DefaultAzureCredential)


def test_a_file_of_a_rehearsal_without_values_is_refused_and_no_real_azure_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "azure.json"
    file.write_text('{"endpoint": null, "token": null, "subscription": null, "certificateAuthority": null}')
    monkeypatch.setenv(VARIABLE, str(file))
    with pytest.raises(CommandError, match=f"{VARIABLE} names "):
        login()
