"""The functions that a program can invoke: reads of what the subscription holds, and a cluster's credentials."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from rehearsal.azure import access, naming
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import NotSimulatedError, not_found
from rehearsal.azure.kinds import Kind
from rehearsal.azure.resources import KINDS, features
from rehearsal.azure.resources.autoscaling import AUTOSCALE, autoscale
from rehearsal.azure.resources.features import FEATURE_REGISTRATION
from rehearsal.azure.resources.identities import USER_ASSIGNED_IDENTITY
from rehearsal.azure.store import Record
from rehearsal.azure.subscription import by_id

Function = Callable[[Cloud, Mapping[str, Any]], dict[str, Any]]
"""Takes the subscription and the arguments; raises AzureError."""

_CLUSTER: Final = "azure-native:containerservice:ManagedCluster"


def find(cloud: Cloud, kind: Kind, resource: str) -> Record | None:
    """The current answer to a GET of a resource ID; None when Azure has nothing there."""
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
    record = cloud.store.get(_resource(cloud, kind, arguments))
    if record is None:
        raise not_found(
            kind.asked_type, str(arguments[kind.name_parameter]), str(arguments.get("resourceGroupName", ""))
        )
    return record


def _resource(cloud: Cloud, kind: Kind, arguments: Mapping[str, Any]) -> str:
    values = {key: str(arguments[key]) for key in kind.parameters}
    return naming.resource_id(kind.path, {"subscriptionId": cloud.subscription.subscription_id, **values})


def _client_config(cloud: Cloud, _arguments: Mapping[str, Any]) -> dict[str, Any]:
    subscription = cloud.subscription
    return {
        "clientId": subscription.client.client_id,
        "objectId": subscription.client.object_id,
        "subscriptionId": subscription.subscription_id,
        "tenantId": subscription.tenant_id,
    }


def _client_token(cloud: Cloud, arguments: Mapping[str, Any]) -> dict[str, Any]:
    if arguments.get("endpoint"):
        raise NotSimulatedError("This rehearsal gives tokens for Azure Resource Manager alone: leave out `endpoint`.")
    return {"token": cloud.token}


def _feature(cloud: Cloud, arguments: Mapping[str, Any]) -> dict[str, Any]:
    feature = features.look(cloud, {key: str(arguments[key]) for key in FEATURE_REGISTRATION.parameters})
    return {**feature.outputs, "id": feature.id}


def _user_credentials(cloud: Cloud, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return access.user_credentials(cloud, _find(cloud, KINDS[_CLUSTER], arguments))


def _admin_credentials(cloud: Cloud, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return access.admin_credentials(cloud, _find(cloud, KINDS[_CLUSTER], arguments))


def _identity(cloud: Cloud, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """An identity that exists outside the program is in the subscription file and does not have a record."""
    resource = _resource(cloud, USER_ASSIGNED_IDENTITY, arguments)
    known = by_id(cloud.subscription.existing_identities, resource)
    if known is None:
        return _get(USER_ASSIGNED_IDENTITY)(cloud, arguments)
    return {
        "id": resource,
        "name": naming.last_part(resource),
        "type": USER_ASSIGNED_IDENTITY.arm_type,
        "azureApiVersion": USER_ASSIGNED_IDENTITY.api_version,
        "location": known.region,
        "tenantId": cloud.subscription.tenant_id,
        "clientId": known.client_id,
        "principalId": known.principal_id,
    }


FUNCTIONS: Final[dict[str, Function]] = {
    "azure-native:authorization:getClientConfig": _client_config,
    "azure-native:authorization:getClientToken": _client_token,
    "azure-native:features:getSubscriptionFeatureRegistration": _feature,
    "azure-native:containerservice:listManagedClusterUserCredentials": _user_credentials,
    "azure-native:containerservice:listManagedClusterAdminCredentials": _admin_credentials,
    **{
        f"{token.rpartition(':')[0]}:get{token.rpartition(':')[2]}": _get(kind)
        for token, kind in KINDS.items()
        if kind is not FEATURE_REGISTRATION
    },
    "azure-native:managedidentity:getUserAssignedIdentity": _identity,
    AUTOSCALE: autoscale,
}
"""Every simulated function by its token."""
