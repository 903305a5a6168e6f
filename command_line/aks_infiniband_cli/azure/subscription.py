"""Reads a subscription: what `preflight` compares with the stack file."""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Network
from typing import Any

from azure.core.exceptions import ClientAuthenticationError, ResourceNotFoundError

from aks_infiniband_cli.azure.answers import (
    Deployed,
    Network,
    Offer,
    Permission,
    Role,
    Subnet,
    Subscription,
    Usage,
)
from aks_infiniband_cli.azure.clients import Clients
from aks_infiniband_cli.azure.deployed import machines_of


class Azure:
    """One subscription. Methods raise AzureError."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def subscription(self) -> Subscription:
        """The subscription itself: the first thing that needs a login."""
        there = self._clients.subscriptions.subscriptions.get(self._clients.subscription_id)
        return Subscription(
            id=self._clients.subscription_id,
            name=str(there.display_name),
            tenant=str(there.tenant_id),
            state=str(getattr(there.state, "value", there.state)),
        )

    def providers(self) -> Mapping[str, str]:
        """The registration state of each resource provider."""
        listed = self._clients.resources.providers.list()
        return {str(provider.namespace): str(provider.registration_state) for provider in listed}

    def feature(self, namespace: str, name: str) -> str:
        """The state of a preview feature."""
        feature = self._clients.features.features.get(namespace, name)
        return str(feature.properties.state) if feature.properties else "NotSpecified"

    def roles(self) -> Sequence[Role]:
        """The roles that the caller has on the whole subscription, through groups too."""
        caller = _object_id(self._clients.token())
        client, scope = self._clients.authorization, f"/subscriptions/{self._clients.subscription_id}"
        known = {definition.id: definition for definition in client.role_definitions.list(scope)}
        assigned = client.role_assignments.list_for_subscription(filter=f"assignedTo('{caller}')")
        above = [each.role_definition_id for each in assigned if not f"{each.scope}/".startswith(f"{scope}/resource")]
        return [_role(known[name]) for name in above if name in known]

    def offers(self, region: str) -> Mapping[str, Offer]:
        """The machine sizes that a region has, by name."""
        listed = self._clients.compute.resource_skus.list(filter=f"location eq '{region}'")
        machines = (sku for sku in listed if sku.resource_type == "virtualMachines")
        return {str(sku.name): _offer(sku, region) for sku in machines}

    def usages(self, region: str) -> Mapping[str, Usage]:
        """The quotas of a region, by Azure's name."""
        listed = self._clients.compute.usage.list(region)
        return {str(usage.name.value): Usage(current=usage.current_value, limit=usage.limit) for usage in listed}

    def kubernetes_versions(self, region: str) -> Mapping[str, Sequence[str]]:
        """The support plans of each version of Kubernetes that a region offers, minor versions and patches."""
        plans_by_version: dict[str, Sequence[str]] = {}
        listed = self._clients.aks.managed_clusters.list_kubernetes_versions(region)
        for version in listed.values_property or ():
            plans = _values(version.capabilities.support_plan if version.capabilities else None)
            for name in (str(version.version), *(version.patch_versions or {})):
                plans_by_version[name] = plans
        return plans_by_version

    def deployed(self, group: str, name: str) -> Deployed | None:
        """A cluster, by resource group and name; None if it is not there."""
        try:
            cluster = self._clients.aks.managed_clusters.get(group, name)
        except ResourceNotFoundError:
            return None
        pools = {str(pool.name): machines_of(pool) for pool in cluster.agent_pool_profiles or ()}
        return Deployed(region=str(cluster.location), version=str(cluster.current_kubernetes_version), pools=pools)

    def permissions(self, group: str, cluster: str, pool: str) -> Sequence[Permission]:
        """The permissions of the caller on a node pool, by every role on it and above it."""
        client = self._clients.authorization
        parent = f"managedClusters/{cluster}"
        listed = client.permissions.list_for_resource(group, "Microsoft.ContainerService", parent, "agentPools", pool)
        return list(map(_permission, listed))

    def networks(self) -> Sequence[Network]:
        """The subscription's virtual networks."""
        listed = self._clients.networks().virtual_networks.list_all()
        return [Network(id=str(network.id), prefixes=_prefixes(network.address_space)) for network in listed]

    def subnet(self, subnet_id: str) -> Subnet:
        """A subnet, by its resource ID."""
        parts = subnet_id.strip("/").split("/")
        there = self._clients.networks(parts[1]).subnets.get(parts[3], parts[7], parts[9])
        (prefix, *_) = _ranges([there.address_prefix] if there.address_prefix else there.address_prefixes)
        return Subnet(id=subnet_id, prefix=prefix, used=len(there.ip_configurations or ()))


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


def _permission(permission: Any) -> Permission:
    return Permission(actions=tuple(permission.actions or ()), exceptions=tuple(permission.not_actions or ()))


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
