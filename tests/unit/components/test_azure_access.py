"""The login of a program to the cluster: by itself, or not at all."""

import base64
import json
import shutil
from typing import Any

import pytest
import yaml
from aks_infiniband import Access
from aks_infiniband.access.kubeconfig import KubeconfigError, with_kubelogin

from declared.pulumi_mocks import Deploy
from tests.unit.components.azure_programs import CLUSTER, cluster

GROUP = "11111111-2222-3333-4444-555555555555"
TENANT = "99999999-8888-7777-6666-555555555555"
SERVER = "6dae42f8-4368-4678-94ff-3960e28e3630"
ENTRA = Access(entra_id=True, admin_group_object_ids=(GROUP,), local_accounts=False)
DEVICE_CODE = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "dev",
    "clusters": [{"name": "dev", "cluster": {"server": "https://dev.example", "certificate-authority-data": "Q0E="}}],
    "contexts": [{"name": "dev", "context": {"cluster": "dev", "user": "clusterUser_dev_dev"}}],
    "users": [
        {
            "name": "clusterUser_dev_dev",
            "user": {
                "exec": {
                    "apiVersion": "client.authentication.k8s.io/v1beta1",
                    "command": "kubelogin",
                    "args": [
                        *("get-token", "--environment", "AzureUSGovernmentCloud", "--server-id", SERVER),
                        *("--client-id", "80faf920-1908-4b52-b5ef-a8e7bedfc67a", "--tenant-id", TENANT),
                        *("--login", "devicecode"),
                    ],
                }
            },
        }
    ],
}
"""The kubeconfig that Azure hands out for a cluster with Entra ID (az aks get-credentials, format exec)."""


def encoded(document: Any) -> str:
    return base64.b64encode(json.dumps(document).encode()).decode()


CREDENTIALS = {"listManagedClusterUserCredentials": {"kubeconfigs": [{"name": "u", "value": encoded(DEVICE_CODE)}]}}


@pytest.fixture
def kubelogin(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The programs on the PATH, with kubelogin; a test may take it away."""
    there = {"kubelogin": "/usr/local/bin/kubelogin"}
    monkeypatch.setattr(shutil, "which", there.get)
    return there


def test_the_kubeconfig_is_secret(deploy: Deploy) -> None:
    async def is_secret() -> Any:
        return await cluster().kubeconfig.is_secret()

    assert deploy(is_secret).result is True


def test_a_preview_without_a_cluster_asks_for_no_credentials(deploy: Deploy) -> None:
    assert deploy(lambda: cluster().cluster_name, preview=True).calls == []


@pytest.mark.field_report("D6")
def test_entra_id_makes_a_kubeconfig_with_a_login_that_asks_nobody(kubelogin: Any, deploy: Deploy) -> None:
    deployment = deploy(lambda: cluster(access=ENTRA).kubeconfig, answers=CREDENTIALS)
    made = yaml.safe_load(deployment.result)
    assert made["clusters"] == DEVICE_CODE["clusters"]
    (user,) = made["users"]
    plugin = user["user"]["exec"]
    assert (plugin["command"], plugin["interactiveMode"]) == ("kubelogin", "Never")
    assert plugin["args"] == ["get-token", "--login", "azurecli", "--server-id", SERVER]
    context = next(context["context"] for context in made["contexts"] if context["name"] == made["current-context"])
    assert context == {"cluster": "dev", "user": user["name"]}


@pytest.mark.parametrize(
    ("login", "rest"),
    [
        ("azurecli", []),
        ("msi", []),
        ("workloadidentity", []),
        ("spn", ["--tenant-id", TENANT, "--environment", "AzureUSGovernmentCloud"]),
    ],
)
def test_each_way_to_log_in_is_told_what_it_cannot_know(login: Any, rest: Any) -> None:
    (user,) = yaml.safe_load(with_kubelogin(encoded(DEVICE_CODE), login))["users"]
    assert user["user"]["exec"]["args"] == ["get-token", "--login", login, "--server-id", SERVER, *rest]


def test_entra_id_with_azure_rbac_and_admin_groups_and_no_local_accounts_is_asked_of_azure(
    kubelogin: Any, deploy: Deploy
) -> None:
    inputs = deploy(lambda: cluster(access=ENTRA).cluster_name, answers=CREDENTIALS).one(CLUSTER).inputs
    assert inputs["aadProfile"] == {"managed": True, "enableAzureRBAC": True, "adminGroupObjectIDs": [GROUP]}
    assert inputs["disableLocalAccounts"] is True
    assert inputs["enableRBAC"] is True


@pytest.mark.field_report("D6")
def test_an_update_without_kubelogin_stops_before_anything_is_made(kubelogin: Any, deploy: Deploy) -> None:
    kubelogin.clear()
    with pytest.raises(KubeconfigError, match="kubelogin is not on the PATH; install it"):
        deploy(lambda: cluster(access=ENTRA).cluster_name)


def test_a_preview_without_kubelogin_is_a_preview_with_a_warning(
    kubelogin: Any, deploy: Deploy, warnings: list[str]
) -> None:
    kubelogin.clear()
    deployment = deploy(lambda: cluster(access=ENTRA).cluster_name, preview=True)
    assert deployment.all(CLUSTER)
    assert any("kubelogin is not on the PATH" in text for text in warnings)


def test_a_cluster_with_certificates_needs_no_kubelogin(kubelogin: Any, deploy: Deploy) -> None:
    kubelogin.clear()
    assert "t0ken" in deploy(lambda: cluster().kubeconfig).result


def test_a_cluster_into_which_nobody_could_log_in_is_refused() -> None:
    with pytest.raises(ValueError, match="no user could log in"):
        cluster(access=Access(local_accounts=False))
