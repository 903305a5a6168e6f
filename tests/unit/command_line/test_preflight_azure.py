"""`aks-infiniband preflight`: what Azure would refuse is said before any money is spent."""

from pathlib import Path
from typing import Any

import pytest
from aks_infiniband_cli.azure.login import endpoint_of, login
from aks_infiniband_cli.azure.rehearsed import VARIABLE
from aks_infiniband_cli.console import CommandError
from azure.identity import ClientSecretCredential, DefaultAzureCredential

from tests.unit.command_line.arm import Arm
from tests.unit.command_line.logged_in import HUB, SUBSCRIPTION
from tests.unit.command_line.preflight_stacks import FAMILY, H100, Checked, stack


def test_it_only_reads(checked: Checked, arm: Arm) -> None:
    checked("-s", "dev")
    assert len(arm.asked) == 14  # the server answers GET only


def test_the_shortfall_of_a_quota_is_exact_and_comes_with_the_request(checked: Checked, arm: Arm) -> None:
    arm.used = {FAMILY: 288, "cores": 288}
    code, lines = checked("-s", "dev")
    assert code == 1
    line = lines[f"quota {FAMILY}"]
    assert line["found"] == "192 vCPUs wanted, 288 of 384 in use in southcentralus: 96 short"
    assert "az quota update" in line["remedy"]
    assert "value=480" in line["remedy"]
    assert lines["quota cores"]["found"].startswith("216 vCPUs wanted")  # 2 × 96, and 8 × (2 + 1) of the system pool


def test_a_cluster_that_is_yet_to_be_made_has_no_definitions_of_prometheus(
    checked: Checked, arm: Arm, tmp_path: Path
) -> None:
    watched = stack(tmp_path, **{"aks-infiniband:observability": {"prometheus": "kube-prometheus"}})
    code, lines = checked(*watched)
    line = lines["definitions of Prometheus"]
    assert (code, line["state"]) == (1, "fail")
    assert "no PodMonitor and no PrometheusRule of monitoring.coreos.com/v1" in line["found"]
    assert "helm install monitoring kube-prometheus-stack" in line["remedy"]
    arm.cluster = DEPLOYED
    code, lines = checked(*watched)
    assert (code, lines["definitions of Prometheus"]["state"]) == (0, "not checked")


@pytest.mark.parametrize(
    ("state", "check", "words"),
    [
        ({"state": "Disabled"}, "subscription", "Disabled"),
        ({"refused": "^/subscriptions/[^/]+$"}, "subscription", "az account list"),
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


def test_alerts_in_azure_monitor_need_their_provider(checked: Checked, arm: Arm, tmp_path: Path) -> None:
    workspace = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/g/providers/Microsoft.Monitor/accounts/w"
    alerts = {"aks-infiniband:observability": {"prometheus": "azure", "workspaceId": workspace}}
    _, lines = checked(*stack(tmp_path, **alerts))
    assert "--namespace Microsoft.AlertsManagement" in lines["providers"]["remedy"]
    arm.providers["Microsoft.AlertsManagement"] = "Registered"
    arm.roles = ()
    _, lines = checked(*stack(tmp_path, **alerts))
    assert lines["providers"]["state"] == "pass"
    assert "Microsoft.AlertsManagement/prometheusRuleGroups/write" in lines["roles"]["found"]


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
    _, lines = checked(*stack(tmp_path, cluster={**lts, "kubernetesVersion": "1.36"}))
    assert lines["Kubernetes"]["state"] == "pass"
    assert lines["Kubernetes"]["found"].endswith("; Network Operator 26.4 names 1.31 to 1.35")


def test_a_feature_that_the_program_registers_itself_is_no_failure(checked: Checked, arm: Arm) -> None:
    arm.feature = "NotRegistered"
    code, lines = checked("-s", "dev")
    assert code == 0
    assert "`pulumi up` registers it" in lines["feature"]["remedy"]


def test_contributor_and_administrator_of_roles_are_enough(checked: Checked, arm: Arm) -> None:
    arm.roles = ("Contributor", "Role Based Access Control Administrator")
    _, lines = checked("-s", "dev")
    assert lines["roles"]["state"] == "pass"
    assert "roles of later commands" not in lines


def test_rights_that_replace_upgrade_and_evidence_lack_are_named_beforehand(checked: Checked, arm: Arm) -> None:
    arm.roles = ()
    _, lines = checked("-s", "dev")
    found = lines["roles of later commands"]["found"]
    assert "replace: Microsoft.Compute/locations/operations/read, " in found
    assert "evidence: Microsoft.Impact/workloadImpacts/write" in found


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
    assert "4091 free addresses; the machines to come take 5" in lines["subnet nodes"]["found"]
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


def test_kubelogin_is_looked_for_where_the_login_needs_it(
    checked: Checked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    _, lines = checked(*stack(tmp_path, cluster={"access": {"entraId": True}}))
    assert lines["kubelogin"]["state"] == "fail"
    (tmp_path / "kubelogin").touch(mode=0o755)
    _, lines = checked(*stack(tmp_path, cluster={"access": {"entraId": True}}))
    assert lines["kubelogin"]["state"] == "pass"


def test_grace_blackwell_needs_the_feature_absent(checked: Checked, arm: Arm, tmp_path: Path) -> None:
    pool = {"vmSize": "Standard_ND128isr_GB300_v6"}
    code, lines = checked(*stack(tmp_path, pool=pool))
    assert code == 1
    assert "az feature unregister" in lines["feature"]["remedy"]
    arm.feature = "NotRegistered"
    _, lines = checked(*stack(tmp_path, pool=pool))
    assert lines["feature"]["state"] == "pass"


DEPLOYED = ("1.35.2", {"system": ("Standard_D8s_v5", 2), "ndh100": (H100, 2)})


def test_machines_that_are_there_already_need_no_quota_once_more(checked: Checked, arm: Arm, tmp_path: Path) -> None:
    arm.cluster, arm.used = DEPLOYED, {FAMILY: 384, "cores": 3990}
    code, lines = checked("-s", "dev")
    assert code == 0
    assert lines[f"quota {FAMILY}"]["found"].startswith("0 vCPUs wanted")
    assert lines["quota cores"]["found"].startswith("8 vCPUs wanted")  # the system pool's, during an upgrade
    _, lines = checked(*stack(tmp_path, pool={"count": 3}))
    assert lines[f"quota {FAMILY}"]["found"].endswith("96 short")


def test_machines_are_there_in_whatever_case_azure_gives_their_size_back(checked: Checked, arm: Arm) -> None:
    version, pools = DEPLOYED
    arm.cluster = version, {name: (size.lower(), count) for name, (size, count) in pools.items()}
    arm.used = {FAMILY: 384, "cores": 3990}
    code, lines = checked("-s", "dev")
    assert code == 0
    assert lines[f"quota {FAMILY}"]["found"].startswith("0 vCPUs wanted")


def test_what_is_deployed_stays_though_azure_would_not_make_it_anew(checked: Checked, arm: Arm, tmp_path: Path) -> None:
    arm.cluster, arm.without = ("1.30.9", DEPLOYED[1]), (H100,)
    arm.networks = {HUB.replace("/network/", "/aks-infiniband-dev/"): "10.224.0.0/16"}
    _, lines = checked("-s", "dev")
    assert lines["size of ndh100"]["found"] == f"2 × {H100} are there already"
    assert lines["addresses"]["remedy"] is None
    assert lines["Kubernetes"]["state"] == "pass", "1.35 is to be raised to, and is offered"
    arm.cluster = ("1.35.2", DEPLOYED[1])
    arm.subscription = arm.subscription.model_copy(update={"kubernetes_versions": (), "long_term_support_versions": ()})
    _, lines = checked("-s", "dev")
    assert lines["Kubernetes"]["found"] == "the cluster runs 1.35.2 already"


def test_where_the_cluster_may_not_be_read_all_machines_count_as_new(checked: Checked, arm: Arm) -> None:
    arm.refused = "/managedClusters/"
    _, lines = checked("-s", "dev")
    assert lines["cluster"]["state"] == "not checked"
    assert lines[f"quota {FAMILY}"]["found"].startswith("192 vCPUs wanted")


def test_a_validation_costs_at_most_its_machines_time_until_the_limit(checked: Checked, tmp_path: Path) -> None:
    _, lines = checked("-s", "dev")
    assert lines["price of one validation"]["found"].startswith("98.32 USD at most: 2 ×")  # 2 × 98.32 × half an hour
    limit = {"aks-infiniband:validation": {"mode": "warn", "timeoutSeconds": 900}}
    _, lines = checked(*stack(tmp_path, **limit))
    assert lines["price of one validation"]["found"].startswith("49.16 USD at most")
    _, lines = checked(*stack(tmp_path, **{"aks-infiniband:validation": {"mode": "off"}}))
    assert "price of one validation" not in lines


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
