"""`aks-infiniband preflight`: what Azure would refuse is said before any money is spent, against a loopback ARM."""

import base64
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband_cli.main import main
from aks_infiniband_cli.preflight import charts, looking, prices
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError

from tests.unit.command_line.arm import CALLER, Arm, served
from tests.unit.components.test_stack_files import KUBECONFIG

ROOT = Path(__file__).parents[3]
H100, FAMILY = "Standard_ND96isr_H100_v5", "standardNDSH100v5Family"
SUBSCRIPTION = "11111111-2222-4333-8444-555555555555"
HUB = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/network/providers/Microsoft.Network/virtualNetworks/hub"


class Credential:
    """Somebody who is logged in, or nobody."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    def get_token(self, *_scopes: str, **_more: Any) -> AccessToken:
        if self._error is not None:
            raise self._error
        payload = base64.urlsafe_b64encode(json.dumps({"oid": CALLER}).encode()).decode().rstrip("=")
        return AccessToken(f"head.{payload}.signature", int(time.time()) + 3600)


@pytest.fixture
def arm() -> Arm:
    return Arm()


@pytest.fixture
def flags(arm: Arm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Those of a preflight by somebody who is logged in, in the project's folder."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(looking, "login", Credential)
    monkeypatch.setenv("ARM_SUBSCRIPTION_ID", SUBSCRIPTION)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with served(arm, tmp_path) as (url, certificate):
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
        monkeypatch.setattr(prices, "ENDPOINT", url)
        monkeypatch.setattr(charts, "index_of", lambda repository: f"{url}/charts/index.yaml")
        yield ["preflight", "--endpoint", url]


Checked = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def checked(flags: list[str], capsys: pytest.CaptureFixture[str]) -> Checked:
    """Runs it; gives the exit code and the lines by their check."""

    def run(*more: str) -> tuple[int, dict[str, Any]]:
        code = main([*flags, "--output", "json", *more])
        return code, {line["check"]: line for line in json.loads(capsys.readouterr().out)["checks"]}

    return run


def stack(folder: Path, **changes: Any) -> list[str]:
    """The flags of a stack file like `dev`, with changes of its cluster or of its pool."""
    document = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())
    document["config"]["aks-infiniband:cluster"] |= changes.get("cluster", {})
    document["config"]["aks-infiniband:pools"][0] |= changes.get("pool", {})
    document["config"] |= {key: value for key, value in changes.items() if ":" in key}
    (folder / "Pulumi.other.yaml").write_text(yaml.safe_dump(document))
    if not (folder / "values").exists():
        (folder / "values").symlink_to(ROOT / "values")
    return ["-s", "other", "--folder", str(folder)]


def test_where_nothing_is_wrong_no_line_fails(checked: Checked, arm: Arm) -> None:
    code, lines = checked("-s", "dev")
    assert code == 0
    passed = [name for name, line in lines.items() if line["state"] == "pass"]
    assert passed == [
        *("settings", "chart of the Network Operator", "chart of the GPU Operator", "subscription", "providers"),
        *("roles", "feature", "size of system", "size of ndh100"),
        *("quota cores", "quota standardDSv5Family", f"quota {FAMILY}", "Kubernetes", "addresses", "price"),
    ]
    assert {line["state"] for name, line in lines.items() if name not in passed} == {"not checked"}


def test_it_only_reads(checked: Checked, arm: Arm) -> None:
    checked("-s", "dev")
    assert len(arm.asked) == 13  # the server answers nothing but GET


def test_the_shortfall_of_a_quota_is_exact_and_comes_with_the_request(checked: Checked, arm: Arm) -> None:
    arm.used = {FAMILY: 288, "cores": 288}
    code, lines = checked("-s", "dev")
    assert code == 1
    line = lines[f"quota {FAMILY}"]
    assert line["found"] == "192 vCPUs wanted, 288 of 384 in use in southcentralus: 96 short"
    assert "az quota update" in line["remedy"]
    assert "value=480" in line["remedy"]
    assert lines["quota cores"]["found"].startswith("216 vCPUs wanted")  # 2 × 96, and 8 × (2 + 1) of the system pool


def test_on_a_narrow_terminal_a_command_stays_whole(
    flags: list[str], arm: Arm, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arm.used = {FAMILY: 288}
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main([*flags, "-s", "dev"]) == 1
    scope = f"--scope /subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/locations/southcentralus --limit-object"
    assert scope in capsys.readouterr().out


@pytest.mark.parametrize(
    ("state", "check", "words"),
    [
        ({"state": "Disabled"}, "subscription", "Disabled"),
        ({"feature": "Pending"}, "feature", "Preview features"),
        ({"roles": ("Contributor",)}, "roles", "--role 'Role Based Access Control Administrator'"),
        ({"roles": ()}, "roles", "--role 'Contributor'"),
        ({"without": (H100,)}, "size of ndh100", "has no Standard_ND96isr_H100_v5"),
        ({"providers": {"Microsoft.Compute": "Registered"}}, "providers", "--namespace Microsoft.ContainerService"),
        (
            {"restrictions": {H100: [{"type": "Location", "reasonCode": "NotAvailableForSubscription"}]}},
            "size of ndh100",
            "NotAvailableForSubscription",
        ),
    ],
)
def test_what_azure_would_refuse_fails_with_what_to_do(
    checked: Checked, arm: Arm, state: dict[str, Any], check: str, words: str
) -> None:
    vars(arm).update(state)
    code, lines = checked("-s", "dev")
    assert code == 1
    assert [name for name, line in lines.items() if line["state"] == "fail"] == [check]
    assert lines[check]["remedy"]
    assert words in f"{lines[check]['found']} {lines[check]['remedy']}"


def test_a_zone_that_has_none_of_the_size_fails_with_those_that_have(
    checked: Checked, arm: Arm, tmp_path: Path
) -> None:
    restriction = {"type": "Zone", "restrictionInfo": {"zones": ["2"]}, "reasonCode": "NotAvailableForSubscription"}
    arm.restrictions = {H100: [restriction]}
    _, lines = checked(*stack(tmp_path, pool={"zones": ["2"]}))
    assert lines["size of ndh100"]["state"] == "fail"
    assert lines["size of ndh100"]["remedy"] == "zones that offer it: 1, 3"
    _, lines = checked(*stack(tmp_path, pool={"zones": ["1"]}))
    assert lines["size of ndh100"]["state"] == "pass"


def test_a_version_is_offered_only_with_its_plan(checked: Checked, tmp_path: Path) -> None:
    lts = {"kubernetesVersion": "1.36.2", "supportPlan": "KubernetesOfficial"}
    code, lines = checked(*stack(tmp_path, cluster=lts))
    assert code == 1
    assert lines["Kubernetes"]["remedy"].startswith("kubernetesVersion with this plan: 1.35, 1.35.7")


def test_a_feature_that_the_program_registers_itself_is_no_failure(checked: Checked, arm: Arm) -> None:
    arm.feature = "NotRegistered"
    code, lines = checked("-s", "dev")
    assert code == 0
    assert "`pulumi up` registers it" in lines["feature"]["remedy"]


def test_a_chart_repository_that_does_not_answer_fails(checked: Checked, arm: Arm) -> None:
    arm.refused = "index.yaml$"
    code, lines = checked("-s", "dev")
    assert code == 1
    assert lines["chart of the GPU Operator"]["found"] == "https://helm.ngc.nvidia.com/nvidia: it answers 403"
    assert "registry.charts" in lines["chart of the GPU Operator"]["remedy"]


def test_charts_in_a_registry_are_not_checked_and_paths_are_those_of_the_stack_files_folder(
    checked: Checked, tmp_path: Path
) -> None:
    (tmp_path / "network-operator").mkdir()
    charts = {
        "aks-infiniband:gpuOperator": {"chart": {"name": "oci://registry.example.com/gpu-operator"}},
        "aks-infiniband:networkOperator": {"mode": "rdma-shared", "chart": {"name": "./network-operator"}},
    }
    _, lines = checked(*stack(tmp_path, **charts))
    assert lines["chart of the GPU Operator"]["state"] == "not checked"
    assert "helm show chart oci://" in lines["chart of the GPU Operator"]["remedy"]
    assert lines["chart of the Network Operator"]["state"] == "pass"


def test_contributor_and_administrator_of_roles_are_enough(checked: Checked, arm: Arm) -> None:
    arm.roles = ("Contributor", "Role Based Access Control Administrator")
    _, lines = checked("-s", "dev")
    assert lines["roles"]["state"] == "pass"


def test_the_price_is_that_of_linux_machines_of_all_pools(checked: Checked, arm: Arm) -> None:
    _, lines = checked("-s", "dev")
    assert lines["price"]["found"].startswith("197.56 USD an hour")  # 2 × 98.32 + 2 × 0.461
    arm.prices.pop(H100)
    code, lines = checked("-s", "dev")
    assert code == 0
    assert lines["price"]["state"] == "not checked"
    assert H100 in lines["price"]["found"]


def test_networks_that_overlap_are_named_but_are_no_failure(checked: Checked, arm: Arm) -> None:
    arm.networks = {HUB: "10.224.0.0/16"}
    code, lines = checked("-s", "dev")
    assert code == 0
    assert HUB in lines["addresses"]["found"]
    assert "peered" in lines["addresses"]["remedy"]


def test_an_existing_subnet_must_have_room_for_upgrades_too(checked: Checked, arm: Arm, tmp_path: Path) -> None:
    network = {"network": {"nodeSubnetId": f"{HUB}/subnets/nodes"}}
    code, lines = checked(*stack(tmp_path, cluster=network))
    assert code == 0
    assert "4091 free addresses; the stack's machines take 5" in lines["subnet nodes"]["found"]
    arm.used = {"addresses": 4087}
    code, lines = checked(*stack(tmp_path, cluster=network))
    assert code == 1
    assert lines["subnet nodes"]["state"] == "fail"


def test_what_may_not_be_read_is_not_checked_and_the_rest_is(checked: Checked, arm: Arm) -> None:
    arm.refused = "usages$"
    code, lines = checked("-s", "dev")
    assert code == 0
    assert lines["sizes and quota"]["state"] == "not checked"
    assert "AuthorizationFailed" in lines["sizes and quota"]["found"]
    assert lines["Kubernetes"]["state"] == "pass"


def test_without_a_login_one_line_says_so(checked: Checked, monkeypatch: pytest.MonkeyPatch, arm: Arm) -> None:
    monkeypatch.setattr(looking, "login", lambda: Credential(ClientAuthenticationError("please run az login")))
    code, lines = checked("-s", "dev")
    assert code == 1
    assert lines["subscription"]["state"] == "fail"
    assert "az login" in lines["subscription"]["remedy"]
    assert lines["all else in Azure"]["state"] == "not checked"
    assert set(arm.asked) == {"/charts/index.yaml"}


def test_kubelogin_is_looked_for_where_the_login_needs_it(
    checked: Checked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    _, lines = checked(*stack(tmp_path, cluster={"access": {"entraId": True}}))
    assert lines["kubelogin"]["state"] == "fail"
    (tmp_path / "kubelogin").touch(mode=0o755)
    _, lines = checked(*stack(tmp_path, cluster={"access": {"entraId": True}}))
    assert lines["kubelogin"]["state"] == "pass"


def test_mistakes_in_the_settings_end_it(checked: Checked, tmp_path: Path, arm: Arm) -> None:
    code, lines = checked(*stack(tmp_path, pool={"count": 0}))
    assert code == 1
    assert list(lines) == ["settings"]
    assert "aks-infiniband:pools[0].count" in lines["settings"]["found"]
    assert arm.asked == []


def test_a_cluster_that_is_there_already_needs_nothing_of_azure(
    checked: Checked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arm: Arm
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text(KUBECONFIG)
    code, lines = checked("-s", "existing")
    assert code == 0
    assert lines["Azure"]["state"] == "not checked"
    assert set(arm.asked) == {"/charts/index.yaml"}


def test_grace_blackwell_needs_the_feature_absent(checked: Checked, arm: Arm, tmp_path: Path) -> None:
    pool = {"vmSize": "Standard_ND128isr_GB300_v6"}
    code, lines = checked(*stack(tmp_path, pool=pool))
    assert code == 1
    assert "az feature unregister" in lines["feature"]["remedy"]
    arm.feature = "NotRegistered"
    _, lines = checked(*stack(tmp_path, pool=pool))
    assert lines["feature"]["state"] == "pass"


def test_which_subscription_must_be_said(
    flags: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ARM_SUBSCRIPTION_ID")
    monkeypatch.delenv("AZURE_SUBSCRIPTION_ID", raising=False)
    assert main([*flags, "-s", "dev"]) == 2
    assert "--subscription" in capsys.readouterr().err


def test_the_transcript_of_the_page_is_what_the_command_prints(
    flags: list[str], arm: Arm, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "preflight.md").read_text(encoding="utf-8")
    (said,) = re.findall(r"^\$ aks-infiniband preflight -s dev\n((?:.*\n)+?)```", page, flags=re.MULTILINE)
    arm.used, arm.feature = {FAMILY: 288, "cores": 288}, "NotRegistered"
    assert main([*flags, "-s", "dev"]) == 1
    assert capsys.readouterr().out.rstrip() == said.rstrip()
