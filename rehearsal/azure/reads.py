"""Azure Resource Manager's answers to a GET: those that `aks-infiniband preflight`, `upgrade` and `teardown` read.

Bodies have the fields that Azure was recorded to answer (tests/unit/field_recordings/arm-bodies.yaml) and that a
program reads; Kubernetes versions and the subscription itself follow Azure's REST reference.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from rehearsal.azure import actions, asked_operations, machine_requests
from rehearsal.azure import read_groups as groups
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import refused
from rehearsal.azure.naming import last_part
from rehearsal.azure.permitted import PERMISSIONS, READS, roles_of
from rehearsal.azure.resources import KINDS, features
from rehearsal.azure.resources.pool_capacity import quota_vcpus, usage
from rehearsal.azure.resources.version_rules import upgrades
from rehearsal.azure.store import Record
from rehearsal.azure.subscription import by_id

_NETWORK = "azure-native:network:VirtualNetwork"
_ASSIGNMENT = "azure-native:authorization:RoleAssignment"
_IDENTITY: Final = "azure-native:managedidentity:UserAssignedIdentity"
_IDENTITY_TYPE: Final = "Microsoft.ManagedIdentity/userAssignedIdentities"
Body = Mapping[str, Any]


def read(cloud: Cloud, path: str, filter_: str) -> Body:
    """The body of the answer to a GET. path: with the subscription; filter_: the query's. Raises AzureError."""
    own = f"/subscriptions/{cloud.subscription.subscription_id}"
    if not f"{path}/".casefold().startswith(f"{own}/"):
        raise refused("path-of-another-subscription", path=path)
    below = path[len(own) :]
    for pattern, body in _ROUTES.items():
        match = re.fullmatch(pattern, below, re.IGNORECASE)
        if match is not None:
            return body(cloud, own, filter_, *match.groups())
    raise refused("get-not-simulated", path=path)


def _there(cloud: Cloud, resource: str) -> Record:
    record = cloud.store.get(resource)
    if record is None:
        raise refused("no-such-resource", resource=resource)
    return record


def _subscription(cloud: Cloud, own: str, _filter: str) -> Body:
    known = cloud.subscription
    named = {"subscriptionId": known.subscription_id, "displayName": "rehearsal", "tenantId": known.tenant_id}
    return {"id": own, **named, "state": "Enabled"}


def _providers(_cloud: Cloud, _own: str, _filter: str) -> Body:
    names = {kind.arm_type.partition("/")[0] for kind in KINDS.values()} | {"Microsoft.Compute"}
    return {"value": [{"namespace": name, "registrationState": "Registered"} for name in sorted(names)]}


def _feature(cloud: Cloud, _own: str, _filter: str, namespace: str, name: str) -> Body:
    feature = f"{namespace}/{name}"
    return {"name": feature, "properties": {"state": features.state(cloud, feature)}}


def _role_definitions(cloud: Cloud, own: str, _filter: str) -> Body:
    names = sorted({*cloud.subscription.roles.values(), *cloud.subscription.client.roles})
    roles = {name: {"roleName": name, "permissions": [PERMISSIONS.get(name, READS)]} for name in names}
    return {"value": [{"id": _role_id(own, name), "properties": role} for name, role in roles.items()]}


def _role_id(own: str, name: str) -> str:
    return f"{own}/providers/Microsoft.Authorization/roleDefinitions/{name.replace(' ', '-').lower()}"


def _own_roles(cloud: Cloud, own: str, _filter: str) -> Body:
    """The roles of the user who is logged in."""
    return {
        "value": [
            {
                "id": f"{own}/providers/Microsoft.Authorization/roleAssignments/{number}",
                "properties": {"scope": own, "roleDefinitionId": _role_id(own, name)},
            }
            for number, name in enumerate(cloud.subscription.client.roles)
        ]
    }


def _roles_on(cloud: Cloud, own: str, _filter: str, scope: str) -> Body:
    return {
        "value": [
            {"id": record.id, "name": last_part(record.id), "properties": record.outputs}
            for record in cloud.store.all(_ASSIGNMENT, under=f"{own}{scope}")
        ]
    }


def _permissions(cloud: Cloud, _own: str, _filter: str, _resource: str) -> Body:
    """The permissions of the client on a resource: all its roles are on the whole subscription."""
    return {"value": list(roles_of(cloud.subscription.client))}


def _identities(cloud: Cloud, _own: str, filter_: str) -> Body:
    if filter_ != f"resourceType eq '{_IDENTITY_TYPE}'":
        raise refused("filter-not-simulated", filter=filter_)
    made = [record.id for record in cloud.store.all(_IDENTITY)]
    return {"value": [{"id": resource} for resource in (*made, *cloud.subscription.existing_identities)]}


def _identity(cloud: Cloud, own: str, _filter: str, below: str) -> Body:
    known = by_id(cloud.subscription.existing_identities, f"{own}{below}")
    principal = known.principal_id if known else _there(cloud, f"{own}{below}").outputs["principalId"]
    return {"id": f"{own}{below}", "properties": {"principalId": principal}}


def _sizes(cloud: Cloud, _own: str, filter_: str) -> Body:
    region = filter_.partition("'")[2].rstrip("'")
    return {"value": [_sku(cloud, name, region) for name in cloud.offered(region)]}


def _sku(cloud: Cloud, name: str, region: str) -> Body:
    size = cloud.size(name)
    assert size is not None, f"{name} is offered"
    return {
        "resourceType": "virtualMachines",
        "name": name,
        "family": cloud.subscription.series_of(size).family,
        "locations": [region],
        "locationInfo": [{"location": region, "zones": list(cloud.subscription.regions.get(region, ()))}],
        "capabilities": [{"name": "vCPUs", "value": str(quota_vcpus(size))}],
        "restrictions": [],
    }


def _usages(cloud: Cloud, _own: str, _filter: str, region: str) -> Body:
    used, series = usage(cloud, region), cloud.subscription.series
    rows = {known.family: (known.vcpus, used.get(name, 0)) for name, known in series.items()}
    rows["cores"] = (cloud.subscription.regional_vcpus, sum(used.values()))
    return {
        "value": [
            {"unit": "Count", "limit": limit, "currentValue": current, "name": {"value": name}}
            for name, (limit, current) in rows.items()
        ]
    }


def _versions(cloud: Cloud, _own: str, _filter: str, _region: str) -> Body:
    long = "AKSLongTermSupport"
    plans = {patch: ["KubernetesOfficial", long] for patch in cloud.subscription.kubernetes_versions}
    plans |= {patch: [long] for patch in cloud.subscription.long_term_support_versions}
    return {
        "values": [
            {
                "version": patch.rpartition(".")[0],
                "capabilities": {"supportPlan": support},
                "patchVersions": {patch: {"upgrades": upgrades(cloud, patch, long_term=True)}},
            }
            for patch, support in plans.items()
        ]
    }


def _whole(cloud: Cloud, own: str, _filter: str, below: str) -> Body:
    return actions.shown(cloud, _there(cloud, f"{own}{below}"))


def _pool_upgrades(cloud: Cloud, own: str, _filter: str, below: str) -> Body:
    return actions.upgrade_profile(cloud, _there(cloud, f"{own}{below}"))


def _machines(cloud: Cloud, own: str, _filter: str, below: str) -> Body:
    return machine_requests.shown_machines(cloud, _there(cloud, f"{own}{below}"))


def _of_compute(cloud: Cloud, _own: str, _filter: str, name: str) -> Body:
    return asked_operations.operation(cloud, name)


def _networks(cloud: Cloud, _own: str, _filter: str) -> Body:
    networks = cloud.store.all(_NETWORK)
    return {
        "value": [{"id": each.id, "properties": {"addressSpace": each.outputs["addressSpace"]}} for each in networks]
    }


def _subnet(cloud: Cloud, own: str, _filter: str, below: str) -> Body:
    known = by_id(cloud.subscription.existing_subnets, f"{own}{below}")
    prefix = known.address_prefix if known else _there(cloud, f"{own}{below}").outputs["addressPrefix"]
    return {"id": f"{own}{below}", "properties": {"addressPrefix": prefix, "ipConfigurations": []}}


_COMPUTE, _AKS = "/providers/Microsoft.Compute", "/providers/Microsoft.ContainerService"
_OF_NETWORK: Final = "/providers/Microsoft.Network/virtualNetworks"
_ROUTES: Final[Mapping[str, Callable[..., Body]]] = {
    "": _subscription,
    "/providers": _providers,
    "/providers/Microsoft.Authorization/roleDefinitions": _role_definitions,
    "/providers/Microsoft.Authorization/roleAssignments": _own_roles,
    "(/.+)/providers/Microsoft.Authorization/roleAssignments": _roles_on,
    "(/.+)/providers/Microsoft.Authorization/permissions": _permissions,
    "/resourceGroups": groups.groups,
    "/resourceGroups/([^/]+)": groups.group,
    "/resourceGroups/([^/]+)/resources": groups.in_group,
    "/resources": _identities,
    f"(/resourceGroups/[^/]+/providers/{_IDENTITY_TYPE}/[^/]+)": _identity,
    "/providers/Microsoft.Features/providers/([^/]+)/features/([^/]+)": _feature,
    f"{_COMPUTE}/skus": _sizes,
    f"{_COMPUTE}/locations/([^/]+)/usages": _usages,
    f"{_AKS}/locations/([^/]+)/kubernetesVersions": _versions,
    f"(/resourceGroups/[^/]+{_AKS}/managedClusters/[^/]+(?:/agentPools/[^/]+)?)": _whole,
    f"(/resourceGroups/[^/]+{_AKS}/managedClusters/[^/]+/agentPools/[^/]+)/upgradeProfiles/default": _pool_upgrades,
    f"(/resourceGroups/[^/]+{_AKS}/managedClusters/[^/]+/agentPools/[^/]+)/machines": _machines,
    f"{_COMPUTE}/locations/[^/]+/operations/([^/]+)": _of_compute,
    f"{_AKS}/locations/[^/]+/operations/([^/]+)": lambda cloud, _own, _filter, name: actions.operation(cloud, name),
    _OF_NETWORK: _networks,
    f"(/resourceGroups/[^/]+{_OF_NETWORK}/[^/]+/subnets/[^/]+)": _subnet,
}
"""By the path below the subscription."""
