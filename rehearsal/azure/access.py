"""Logins to a managed cluster, and their credentials: certificates of local accounts, or Entra ID through kubelogin."""

import base64
import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import yaml

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.doors import late_door
from rehearsal.azure.errors import refused
from rehearsal.azure.naming import last_part
from rehearsal.azure.store import Record

_CLUSTER: Final = "azure-native:containerservice:ManagedCluster"
_ASSIGNMENT: Final = "azure-native:authorization:RoleAssignment"
_ADMINISTRATOR: Final = "Azure Kubernetes Service RBAC Cluster Admin"
_LOGIN: Final = (
    "get-token", "--environment", "AzurePublicCloud", "--server-id", "6dae42f8-4368-4678-94ff-3960e28e3630",
    "--client-id", "80faf920-1908-4b52-b5ef-a8e7bedfc67a",
)  # fmt: skip
"""The arguments of AKS's kubeconfig with format exec; the applications are AKS's own server and client."""


def user_credentials(cloud: Cloud, cluster: Record) -> dict[str, Any]:
    """The answer of listClusterUserCredential: with Entra ID a kubeconfig that calls kubelogin (AKS release
    2022-07-31).

    Raises AzureError if neither is there (kubernetes-sigs/cluster-api-provider-azure PR 2512).
    """
    if not cluster.outputs.get("aadProfile"):
        _require_local_accounts(cluster)
        return _credentials("clusterUser", _kubeconfig(cloud, cluster))
    group, name = cluster.id.split("/")[4], last_part(cluster.id)
    return _credentials("clusterUser", _with_kubelogin(cloud, cluster, f"clusterUser_{group}_{name}"))


def admin_credentials(cloud: Cloud, cluster: Record) -> dict[str, Any]:
    """The answer of listClusterAdminCredential. Raises AzureError if local accounts are off."""
    _require_local_accounts(cluster)
    return _credentials("clusterAdmin", _kubeconfig(cloud, cluster))


def _require_local_accounts(cluster: Record) -> None:
    if cluster.outputs.get("disableLocalAccounts"):
        raise refused("local-accounts-are-off")


def _kubeconfig(cloud: Cloud, cluster: Record) -> str:
    """The kubeconfig with a certificate; of a cluster that is hard to reach, by way of a door that opens late."""
    text = cloud.cluster_api(cluster.id).kubeconfig()
    if not cluster.details.get("unreachable"):
        return text
    document = yaml.safe_load(text)
    for entry in document["clusters"]:
        if cluster.id not in cloud.doors:
            cloud.doors[cluster.id] = late_door(int(urlsplit(entry["cluster"]["server"]).port or 443))
        entry["cluster"]["server"] = f"https://127.0.0.1:{cloud.doors[cluster.id]}"
    return yaml.safe_dump(document, sort_keys=False)


def _credentials(name: str, kubeconfig: str) -> dict[str, Any]:
    return {"kubeconfigs": [{"name": name, "value": base64.b64encode(kubeconfig.encode()).decode()}]}


def _with_kubelogin(cloud: Cloud, cluster: Record, user: str) -> str:
    document = yaml.safe_load(_kubeconfig(cloud, cluster))
    login = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "kubelogin",
        "args": [*_LOGIN, "--tenant-id", cloud.subscription.tenant_id, "--login", "devicecode"],
        "env": None,
        "installHint": "\nkubelogin is not installed which is required to connect to AAD enabled cluster.\n\n"
        "To learn more, please go to https://aka.ms/aks/kubelogin\n",
        "provideClusterInfo": False,
    }
    for context in document["contexts"]:
        context["context"]["user"] = user
    return yaml.safe_dump({**document, "users": [{"name": user, "user": {"exec": login}}]}, sort_keys=False)


def write_down(cloud: Cloud) -> None:
    """Write for kubelogin whether the subscription's client administers the cluster; no file without Entra ID."""
    file = cloud.store.folder / "access.json"
    for cluster in cloud.store.all(_CLUSTER):
        if profile := cluster.outputs.get("aadProfile"):
            draft = file.with_suffix(".draft")
            draft.write_text(json.dumps({"administrator": _administers(cloud, cluster, profile)}))
            draft.replace(file)
            return
    file.unlink(missing_ok=True)


def _administers(cloud: Cloud, cluster: Record, profile: Mapping[str, Any]) -> bool:
    """True if the client is in a group of administrators or, with Azure RBAC, has the role on the cluster or above."""
    client = cloud.subscription.client
    if set(client.groups) & set(profile.get("adminGroupObjectIDs") or []):
        return True
    if not profile.get("enableAzureRBAC"):
        return False
    roles = {
        cloud.subscription.roles[last_part(record.outputs["roleDefinitionId"])]
        for record in cloud.store.all(_ASSIGNMENT)
        if record.outputs["principalId"] == client.object_id
        and f"{cluster.id}/".casefold().startswith(f"{record.outputs['scope']}/".casefold())
    }
    return _ADMINISTRATOR in {*client.roles, *roles}
