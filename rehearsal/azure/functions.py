"""The functions that a program can invoke: reads of what the subscription holds, and a cluster's credentials."""

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final

from rehearsal.azure import naming
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import bad_request, not_found
from rehearsal.azure.kinds import Kind
from rehearsal.azure.resources import KINDS, features
from rehearsal.azure.resources.features import FEATURE_REGISTRATION
from rehearsal.azure.store import Record

Function = Callable[[Cloud, Mapping[str, Any]], dict[str, Any]]
"""Takes the subscription and the arguments; raises AzureError."""

_CLUSTER: Final = "azure-native:containerservice:ManagedCluster"


def find(cloud: Cloud, kind: Kind, resource: str) -> Record | None:
    """What a GET of a resource ID shows now; None when Azure has nothing there."""
    if kind is FEATURE_REGISTRATION:
        path = naming.parse_id(kind.path, resource)
        return features.look(cloud, path) if path else None
    return cloud.store.get(resource)


def _get(kind: Kind) -> Function:
    def get(cloud: Cloud, arguments: Mapping[str, Any]) -> dict[str, Any]:
        record = _find(cloud, kind, arguments)
        return {**record.outputs, "id": record.id}

    return get


def _find(cloud: Cloud, kind: Kind, arguments: Mapping[str, Any]) -> Record:
    path = {
        "subscriptionId": cloud.subscription.subscription_id,
        **{key: str(arguments[key]) for key in kind.parameters},
    }
    resource = naming.resource_id(kind.path, path)
    record = cloud.store.get(resource)
    if record is None:
        raise not_found(kind.arm_type, path[kind.name_parameter], path.get("resourceGroupName", ""))
    return record


def _client_config(cloud: Cloud, _arguments: Mapping[str, Any]) -> dict[str, Any]:
    subscription = cloud.subscription
    return {
        "clientId": subscription.client.client_id,
        "objectId": subscription.client.object_id,
        "subscriptionId": subscription.subscription_id,
        "tenantId": subscription.tenant_id,
    }


def _feature(cloud: Cloud, arguments: Mapping[str, Any]) -> dict[str, Any]:
    found = features.look(cloud, {key: str(arguments[key]) for key in FEATURE_REGISTRATION.parameters})
    return {**found.outputs, "id": found.id}


def _user_credentials(cloud: Cloud, arguments: Mapping[str, Any]) -> dict[str, Any]:
    _find(cloud, KINDS[_CLUSTER], arguments)
    return _credentials(cloud, "clusterUser")


def _admin_credentials(cloud: Cloud, arguments: Mapping[str, Any]) -> dict[str, Any]:
    cluster = _find(cloud, KINDS[_CLUSTER], arguments)
    if cluster.outputs.get("disableLocalAccounts"):
        raise bad_request(
            "BadRequest",
            "Getting static credential is not allowed because this cluster is set to disable local accounts.",
        )
    return _credentials(cloud, "clusterAdmin")


def _credentials(cloud: Cloud, name: str) -> dict[str, Any]:
    value = base64.b64encode(cloud.cluster_api.kubeconfig().encode()).decode()
    return {"kubeconfigs": [{"name": name, "value": value}]}


FUNCTIONS: Final[dict[str, Function]] = {
    "azure-native:authorization:getClientConfig": _client_config,
    "azure-native:features:getSubscriptionFeatureRegistration": _feature,
    "azure-native:containerservice:listManagedClusterUserCredentials": _user_credentials,
    "azure-native:containerservice:listManagedClusterAdminCredentials": _admin_credentials,
    **{
        f"{token.rpartition(':')[0]}:get{token.rpartition(':')[2]}": _get(kind)
        for token, kind in KINDS.items()
        if kind is not FEATURE_REGISTRATION
    },
}
"""Every simulated function by its token."""
