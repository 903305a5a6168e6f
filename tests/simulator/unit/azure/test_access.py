"""Access to a cluster: certificates of local accounts, and Entra ID through kubelogin."""

import base64
import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from rehearsal.azure import kubelogin
from rehearsal.azure.wire import Properties
from tests.simulator.unit.azure.asking import SUBSCRIPTION, Azure, MakeAzure, RefusedError, cluster_inputs

CLUSTER: Final = "containerservice:ManagedCluster"
ENTRA: Final = {"managed": True, "enableAzureRBAC": True}
SERVER_ID: Final = "6dae42f8-4368-4678-94ff-3960e28e3630"
LOCAL: Final = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: admin}}]
users: [{name: admin, user: {client-certificate-data: x}}]
current-context: c
"""


def cluster_with(azure: Azure, **changes: Any) -> Properties:
    azure.machines.kubeconfig = lambda: LOCAL  # type: ignore[method-assign]
    group = azure.create("resources:ResourceGroup", "rg")
    return azure.create(CLUSTER, "aks", **cluster_inputs(group, **changes))


def credentials(azure: Azure, cluster: Properties, kind: str) -> dict[str, Any]:
    answer = azure.invoke(
        f"containerservice:listManagedCluster{kind}Credentials",
        resourceGroupName=cluster["__inputs"]["resourceGroupName"],
        resourceName=cluster["name"],
    )
    document: dict[str, Any] = yaml.safe_load(base64.b64decode(answer["kubeconfigs"][0]["value"]))
    return document


def access(azure: Azure) -> dict[str, Any] | None:
    file = azure.cloud.store.folder / "access.json"
    return json.loads(file.read_text()) if file.exists() else None


def test_with_entra_id_a_users_kubeconfig_asks_a_person_to_log_in(azure: Azure) -> None:
    document = credentials(azure, cluster_with(azure, aadProfile=ENTRA), "User")
    [user] = document["users"]
    login = user["user"]["exec"]
    assert (login["command"], login["apiVersion"]) == ("kubelogin", "client.authentication.k8s.io/v1beta1")
    assert login["args"][0] == "get-token"
    assert login["args"][-2:] == ["--login", "devicecode"]
    assert SERVER_ID in login["args"]
    assert document["contexts"][0]["context"]["user"] == user["name"]
    assert document["clusters"] == yaml.safe_load(LOCAL)["clusters"]


def test_local_accounts_give_a_certificate_until_they_are_off(azure: Azure) -> None:
    cluster = cluster_with(azure, aadProfile=ENTRA)
    assert credentials(azure, cluster, "Admin") == yaml.safe_load(LOCAL)
    azure.update(CLUSTER, "aks", cluster, disableLocalAccounts=True)
    with pytest.raises(RefusedError, match="Getting static credential is not allowed because this cluster is set to"):
        credentials(azure, cluster, "Admin")
    assert "exec" in credentials(azure, cluster, "User")["users"][0]["user"]


def test_without_entra_id_and_local_accounts_nobody_gets_in(azure: Azure) -> None:
    cluster = cluster_with(azure, disableLocalAccounts=True)
    for kind in ("User", "Admin"):
        with pytest.raises(RefusedError, match="disable local accounts"):
            credentials(azure, cluster, kind)


@pytest.mark.parametrize(
    ("roles", "groups", "profile", "administrator"),
    [
        (("Azure Kubernetes Service RBAC Cluster Admin",), (), ENTRA, True),
        (("Owner",), (), ENTRA, False),
        (("Azure Kubernetes Service RBAC Cluster Admin",), (), {"managed": True}, False),
        ((), ("g1",), {**ENTRA, "adminGroupObjectIDs": ["g1", "g2"]}, True),
        ((), ("g3",), {"managed": True, "adminGroupObjectIDs": ["g1", "g2"]}, False),
    ],
)
def test_roles_and_groups_decide_who_administers(
    make_azure: MakeAzure, roles: tuple[str, ...], groups: tuple[str, ...], profile: dict[str, Any], administrator: bool
) -> None:
    client = SUBSCRIPTION.client.model_copy(update={"roles": roles, "groups": groups})
    azure = make_azure(client=client)
    cluster = cluster_with(azure, aadProfile=profile)
    assert access(azure) == {"administrator": administrator}
    azure.delete(CLUSTER, "aks", cluster)
    assert access(azure) is None


def test_a_role_that_the_program_gives_on_the_cluster_counts(make_azure: MakeAzure) -> None:
    client = SUBSCRIPTION.client.model_copy(update={"roles": ()})
    azure = make_azure(client=client)
    cluster = cluster_with(azure, aadProfile=ENTRA)
    assert access(azure) == {"administrator": False}
    azure.create(
        "authorization:RoleAssignment",
        "admin",
        principalId=client.object_id,
        scope=cluster["id"],
        roleDefinitionId="/x/roleDefinitions/b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b",
    )
    assert access(azure) == {"administrator": True}


def run_folder(folder: Path, administrator: bool | None) -> dict[str, str]:
    (folder / "azure").mkdir()
    (folder / "pki").mkdir()
    (folder / "pki" / "tokens.csv").write_text(
        'top,entra:administrator,entra:administrator,"system:masters"\nlow,entra:user,entra:user\n'
    )
    if administrator is not None:
        (folder / "azure" / "access.json").write_text(json.dumps({"administrator": administrator}))
    return {"AKS_INFINIBAND_REHEARSAL": str(folder)}


@pytest.mark.parametrize("login", ["azurecli", "spn", "msi", "workloadidentity"])
@pytest.mark.parametrize(("administrator", "token"), [(True, "top"), (False, "low")])
def test_kubelogin_prints_the_clients_token(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], login: str, administrator: bool, token: str
) -> None:
    environment = run_folder(tmp_path, administrator)
    arguments = ["get-token", "--login", login, "--server-id", SERVER_ID, "--tenant-id", "t"]
    assert kubelogin.main(arguments, environment) == 0
    credential = json.loads(capsys.readouterr().out)
    assert (credential["kind"], credential["apiVersion"]) == (
        "ExecCredential",
        "client.authentication.k8s.io/v1beta1",
    )
    assert credential["status"]["token"] == token


def test_kubelogin_answers_in_the_version_that_it_is_asked_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {"KUBERNETES_EXEC_INFO": json.dumps({"apiVersion": "client.authentication.k8s.io/v1"})}
    arguments = ["get-token", "--login", "azurecli", "--server-id", SERVER_ID]
    assert kubelogin.main(arguments, run_folder(tmp_path, True) | asked) == 0
    assert json.loads(capsys.readouterr().out)["apiVersion"] == "client.authentication.k8s.io/v1"


@pytest.mark.parametrize(
    ("administrator", "server"),
    [(None, SERVER_ID), (True, "00000000-0000-0000-0000-000000000000")],
    ids=["a cluster without Entra ID", "another server's token"],
)
def test_a_token_for_something_else_is_one_that_the_api_server_does_not_know(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], administrator: bool | None, server: str
) -> None:
    arguments = ["get-token", "--login", "azurecli", "--server-id", server]
    assert kubelogin.main(arguments, run_folder(tmp_path, administrator)) == 0
    assert json.loads(capsys.readouterr().out)["status"]["token"] not in ("top", "low")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--login", "devicecode", "--server-id", SERVER_ID], "--login devicecode waits for a person"),
        (["--server-id", SERVER_ID], "--login devicecode waits for a person"),
        (["--login", "interactive", "--server-id", SERVER_ID], "--login interactive waits for a person"),
        (["--login", "azurecli"], "server-id is required"),
        (["--login", "cli", "--server-id", SERVER_ID], "invalid choice: 'cli'"),
        (["--login", "azurecli", "--serverid", SERVER_ID], "--serverid"),
    ],
)
def test_kubelogin_refuses_what_would_hang_or_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    try:
        status = kubelogin.main(["get-token", *arguments], run_folder(tmp_path, True))
    except SystemExit as error:
        status = int(str(error.code))
    assert status == 1
    printed = capsys.readouterr()
    assert words in printed.err
    assert printed.out == ""
