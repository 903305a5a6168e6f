"""Reads Azure Resource Manager through its maintained clients; only reads."""

import base64
import json
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from ipaddress import IPv4Network
from typing import Any, Final

from azure.core import AzureClouds
from azure.core.credentials import TokenCredential
from azure.core.exceptions import ClientAuthenticationError, ResourceNotFoundError
from azure.identity import ClientSecretCredential, DefaultAzureCredential
from azure.mgmt.authorization import AuthorizationManagementClient
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.containerservice import ContainerServiceClient
from azure.mgmt.core.tools import get_arm_endpoints
from azure.mgmt.network import NetworkManagementClient
from azure.mgmt.resource.features import FeatureClient
from azure.mgmt.resource.resources import ResourceManagementClient
from azure.mgmt.resource.subscriptions import SubscriptionClient

from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.preflight.answered import RefuseOdd
from aks_infiniband_cli.preflight.answers import (
    Deployed,
    Network,
    Offer,
    Permission,
    Role,
    Subnet,
    Subscription,
    Usage,
)
from aks_infiniband_cli.preflight.deployed import machines_of
from aks_infiniband_cli.preflight.rehearsed import Rehearsed, rehearsed
from aks_infiniband_cli.stack_file import subscription_of

_CLOUD: Final = ("azure-native:environment", "ARM_ENVIRONMENT")
"""What names the cloud to Pulumi: configuration, or else the environment."""
_CLOUDS: Final = {
    "public": AzureClouds.AZURE_PUBLIC_CLOUD,
    "usgovernment": AzureClouds.AZURE_US_GOVERNMENT,
    "china": AzureClouds.AZURE_CHINA_CLOUD,
}
"""By Pulumi's names (pulumi-azure-native 3.12.0, config/vars.d.ts, read 2026-11-22)."""
_PRINCIPAL: Final = ("ARM_TENANT_ID", "ARM_CLIENT_ID", "ARM_CLIENT_SECRET")


def login() -> TokenCredential:
    """Whoever Pulumi's variables of a service principal, `az login`, environment or managed identity say.

    In a rehearsal's shell it is the rehearsal's client.

    It never asks a person. If nobody is logged in, the command says so in its own words, not in fifteen lines of a log.
    """
    if (simulated := rehearsed()) is not None:
        return simulated
    logging.getLogger("azure.identity").setLevel(logging.ERROR)
    if all(map(os.environ.get, _PRINCIPAL)):
        return ClientSecretCredential(*(os.environ[name] for name in _PRINCIPAL))
    return DefaultAzureCredential(exclude_interactive_browser_credential=True)


def endpoint_of(configuration: Mapping[str, Any]) -> str:
    """The URL of Azure Resource Manager in the stack's cloud. Raises CommandError for a cloud that is not known.

    In a rehearsal's shell it is the rehearsal's.
    """
    if (simulated := rehearsed()) is not None:
        return simulated.endpoint
    configured, variable = _CLOUD
    cloud = str(configuration.get(configured) or os.environ.get(variable) or "public").lower()
    if cloud not in _CLOUDS:
        raise CommandError(f"{configured} is {cloud!r}, and known are {', '.join(_CLOUDS)}: say --endpoint")
    return str(get_arm_endpoints(_CLOUDS[cloud])["resource_manager"]).rstrip("/")


def of_all(credential: TokenCredential, endpoint: str) -> dict[str, Any]:
    """What every client of Resource Manager is given; endpoint: its URL."""
    given: dict[str, Any] = {
        "credential": credential,
        "base_url": endpoint,
        "credential_scopes": [f"{endpoint}/.default"],
        "per_call_policies": [RefuseOdd()],
    }
    if isinstance(credential, Rehearsed):
        given["connection_verify"] = credential.certificate_authority
    return given


def chosen_subscription(given: str | None, configuration: Mapping[str, Any]) -> str:
    """The ID of the subscription, as `subscription_of` finds it; in a rehearsal's shell it is the rehearsal's."""
    simulated = rehearsed()
    return subscription_of(given or (simulated.subscription if simulated else None), configuration)


class Azure:
    """One subscription.

    endpoint: of Resource Manager, such as https://management.azure.com. Methods raise AzureError.
    """

    def __init__(self, credential: TokenCredential, endpoint: str, subscription_id: str) -> None:
        self._id = subscription_id
        self._of_all = of_all(credential, endpoint)
        self._given = {**self._of_all, "subscription_id": subscription_id}

    @cached_property
    def _compute(self) -> ComputeManagementClient:
        return ComputeManagementClient(**self._given)

    def subscription(self) -> Subscription:
        """The subscription itself: the first thing that needs a login."""
        found = SubscriptionClient(**self._of_all).subscriptions.get(self._id)
        return Subscription(
            id=self._id,
            name=str(found.display_name),
            tenant=str(found.tenant_id),
            state=str(getattr(found.state, "value", found.state)),
        )

    def providers(self) -> Mapping[str, str]:
        """The registration state of each resource provider."""
        listed = ResourceManagementClient(**self._given).providers.list()
        return {str(provider.namespace): str(provider.registration_state) for provider in listed}

    def feature(self, namespace: str, name: str) -> str:
        """The state of a preview feature."""
        found = FeatureClient(**self._given).features.get(namespace, name)
        return str(found.properties.state) if found.properties else "NotSpecified"

    def roles(self) -> Sequence[Role]:
        """The roles that the caller has on the whole subscription, through groups too."""
        caller = _object_id(self._of_all["credential"].get_token(*self._of_all["credential_scopes"]).token)
        client, scope = AuthorizationManagementClient(**self._given), f"/subscriptions/{self._id}"
        known = {definition.id: definition for definition in client.role_definitions.list(scope)}
        assigned = client.role_assignments.list_for_subscription(filter=f"assignedTo('{caller}')")
        above = [each.role_definition_id for each in assigned if not f"{each.scope}/".startswith(f"{scope}/resource")]
        return [_role(known[name]) for name in above if name in known]

    def offers(self, region: str) -> Mapping[str, Offer]:
        """The machine sizes that a region has, by name."""
        listed = self._compute.resource_skus.list(filter=f"location eq '{region}'")
        machines = (sku for sku in listed if sku.resource_type == "virtualMachines")
        return {str(sku.name): _offer(sku, region) for sku in machines}

    def usages(self, region: str) -> Mapping[str, Usage]:
        """The quotas of a region, by Azure's name."""
        listed = self._compute.usage.list(region)
        return {str(usage.name.value): Usage(current=usage.current_value, limit=usage.limit) for usage in listed}

    def kubernetes_versions(self, region: str) -> Mapping[str, Sequence[str]]:
        """The support plans of each version of Kubernetes that a region offers, minor versions and patches."""
        found: dict[str, Sequence[str]] = {}
        listed = ContainerServiceClient(**self._given).managed_clusters.list_kubernetes_versions(region)
        for version in listed.values_property or ():
            plans = _values(version.capabilities.support_plan if version.capabilities else None)
            for name in (str(version.version), *(version.patch_versions or {})):
                found[name] = plans
        return found

    def deployed(self, group: str, name: str) -> Deployed | None:
        """A cluster, by resource group and name; None where it is not there."""
        try:
            found = ContainerServiceClient(**self._given).managed_clusters.get(group, name)
        except ResourceNotFoundError:
            return None
        pools = {str(pool.name): machines_of(pool) for pool in found.agent_pool_profiles or ()}
        return Deployed(region=str(found.location), version=str(found.current_kubernetes_version), pools=pools)

    def permissions(self, group: str, cluster: str, pool: str) -> Sequence[Permission]:
        """The permissions of the caller on a node pool, by every role on it and above it."""
        client = AuthorizationManagementClient(**self._given)
        parent = f"managedClusters/{cluster}"
        found = client.permissions.list_for_resource(group, "Microsoft.ContainerService", parent, "agentPools", pool)
        return list(map(_permission, found))

    def networks(self) -> Sequence[Network]:
        """The subscription's virtual networks."""
        listed = NetworkManagementClient(**self._given).virtual_networks.list_all()
        return [Network(id=str(found.id), prefixes=_prefixes(found.address_space)) for found in listed]

    def subnet(self, subnet_id: str) -> Subnet:
        """A subnet, by its resource ID."""
        parts = subnet_id.strip("/").split("/")
        found = NetworkManagementClient(**{**self._given, "subscription_id": parts[1]}).subnets.get(
            parts[3], parts[7], parts[9]
        )
        (prefix, *_) = _ranges([found.address_prefix] if found.address_prefix else found.address_prefixes)
        return Subnet(id=subnet_id, prefix=prefix, used=len(found.ip_configurations or ()))


def _object_id(token: str) -> str:
    """The caller's ID in Entra ID, which the token names."""
    try:
        payload = token.split(".")[1]
        return str(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["oid"])
    except (IndexError, KeyError, ValueError) as error:
        raise ClientAuthenticationError("the token of this login does not say whose it is") from error


def _role(definition: Any) -> Role:
    return Role(
        name=str(definition.role_name),
        permissions=tuple(map(_permission, definition.permissions or ())),
    )


def _permission(found: Any) -> Permission:
    return Permission(actions=tuple(found.actions or ()), exceptions=tuple(found.not_actions or ()))


def _offer(sku: Any, region: str) -> Offer:
    capabilities = {str(each.name): str(each.value) for each in sku.capabilities or ()}
    zones = [zone for each in sku.location_info or () if each.location.lower() == region for zone in each.zones or ()]
    refused, refused_zones = None, set[str]()
    for restriction in sku.restrictions or ():
        if str(getattr(restriction.type, "value", restriction.type)) == "Zone":
            refused_zones |= set(restriction.restriction_info.zones or ())
        else:
            refused = str(getattr(restriction.reason_code, "value", restriction.reason_code))
    return Offer(
        family=str(sku.family),
        vcpus=int(capabilities.get("vCPUs", 0)),
        zones=frozenset(map(str, zones)),
        refused=refused,
        refused_zones=frozenset(map(str, refused_zones)),
    )


def _values(given: Iterable[Any] | None) -> tuple[str, ...]:
    return tuple(str(getattr(each, "value", each)) for each in given or ())


def _prefixes(address_space: Any) -> tuple[IPv4Network, ...]:
    return _ranges(address_space.address_prefixes) if address_space else ()


def _ranges(given: Iterable[str] | None) -> tuple[IPv4Network, ...]:
    return tuple(IPv4Network(each) for each in given or () if ":" not in each)
