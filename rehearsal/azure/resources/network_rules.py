"""Azure's requirements for the network of a cluster and its pools: subnets, ways out, and access to the API server."""

import ipaddress
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import AzureError, bad_request
from rehearsal.azure.resources.networks import find_subnet
from rehearsal.azure.subscription import ExistingSubnet, by_id


def require_pool_network(cloud: Cloud, pool: Mapping[str, Any], cluster: Mapping[str, Any]) -> None:
    """Refuse subnets that are not there, are elsewhere, or do not go with the cluster's network."""
    for key in ("vnetSubnetID", "podSubnetID"):
        _require_subnet(cloud, pool, str(pool.get(key) or ""), str(cluster["location"]))
    nodes, pods = str(pool.get("vnetSubnetID") or ""), str(pool.get("podSubnetID") or "")
    if not pods:
        return
    profile = cluster["networkProfile"]
    if profile.get("networkPlugin") != "azure" or profile.get("networkPluginMode") == "overlay":
        # Azure, "Dynamic allocation of IPs" (podSubnetID): networkPlugin azure, no plugin mode.
        raise _invalid(
            "podSubnetID", f"the pod subnet of agent pool '{pool['name']}' cannot be used with Azure CNI Overlay"
        )
    if _network_of(nodes) != _network_of(pods):
        raise _invalid("podSubnetID", "the pod subnet must be in the virtual network of the node subnet")
    if nodes.casefold() == pods.casefold():
        raise _invalid("podSubnetID", "the pod subnet must be different from the node subnet")


def _network_of(subnet: str) -> str:
    return subnet.casefold().partition("/subnets/")[0]


def _require_subnet(cloud: Cloud, pool: Mapping[str, Any], subnet: str, region: str) -> None:
    existing = by_id(cloud.subscription.existing_subnets, subnet)
    elsewhere = existing is not None and existing.region != region
    if subnet and (elsewhere or find_subnet(cloud, subnet) is None):
        raise AzureError(
            HTTPStatus.NOT_FOUND,
            "InvalidResourceReference",
            f"Resource {subnet} referenced by agent pool {pool['name']} was not found. Please make sure that the "
            "referenced resource exists, and that both resources are in the same region.",
        )


def require_way_out(cloud: Cloud, cluster: Mapping[str, Any]) -> None:
    """Refuse an outbound type that the subnets are not prepared for.

    Source: Azure, "Customize cluster egress with outbound types": userDefinedRouting needs a subnet with a route table,
    userAssignedNATGateway one with a NAT gateway, and neither nor none can be had on the network that AKS makes itself.
    """
    outbound = str(cluster["networkProfile"]["outboundType"])
    if outbound not in ("userDefinedRouting", "userAssignedNATGateway"):
        return
    for pool in cluster["agentPoolProfiles"]:
        subnet = str(pool.get("vnetSubnetID") or "")
        if not subnet:
            raise bad_request(
                "InvalidParameter",
                f"OutboundType {outbound} can not be combined with AKS managed virtual network: agent pool "
                f"'{pool['name']}' has no vnetSubnetID.",
                target="networkProfile.outboundType",
            )
        _require_prepared(outbound, subnet, by_id(cloud.subscription.existing_subnets, subnet), cloud)


def _require_prepared(outbound: str, subnet: str, existing: ExistingSubnet | None, cloud: Cloud) -> None:
    record = cloud.store.get(subnet)
    shown = record.outputs if record else {}
    if outbound == "userDefinedRouting" and not (existing.route_table if existing else shown.get("routeTable")):
        # The code is AKS's (Azure/AKS issue 400, aka.ms/aks/customrt).
        raise bad_request(
            "ExistingRouteTableNotAssociatedWithSubnet",
            f"An existing route table has not been associated with subnet {subnet}. Please update the route table "
            "association",
        )
    if outbound == "userAssignedNATGateway" and not (existing.nat_gateway if existing else shown.get("natGateway")):
        raise bad_request("SubnetNotAssociatedWithNATGateway", f"Subnet {subnet} is not associated with a NAT gateway.")


def require_api_server_access(cluster: Mapping[str, Any], before: Mapping[str, Any] | None) -> None:
    """Refuse authorized ranges of a private cluster, malformed ranges, and a change between private and public."""
    access = cluster.get("apiServerAccessProfile") or {}
    ranges, private = access.get("authorizedIPRanges") or [], bool(access.get("enablePrivateCluster"))
    if before is not None:
        was = bool((before.get("apiServerAccessProfile") or {}).get("enablePrivateCluster"))
        if was != private:
            # Azure, "Create a private AKS cluster", limitations: an existing cluster cannot be converted.
            raise bad_request(
                "PropertyChangeNotAllowed",
                "Changing property 'apiServerAccessProfile.enablePrivateCluster' is not allowed.",
                target="apiServerAccessProfile.enablePrivateCluster",
            )
    if private and ranges:
        raise bad_request("InvalidParameter", "Private cluster cannot be enabled with AuthorizedIPRanges.")  # tfsec 571
    if "0.0.0.0/32" in ranges and len(ranges) > 1:
        # Azure/terraform-azurerm-aks issue 378.
        raise bad_request(
            "InvalidParameter",
            "Setting apiServerAuthorizedIPRange to 0.0.0.0/32 is not allowed with other IP ranges. Refer to "
            "https://aka.ms/aks/auth-ip-ranges for more details",
        )
    for given in ranges:
        try:
            ipaddress.ip_network(given)
        except ValueError as error:
            raise _invalid(
                "apiServerAccessProfile.authorizedIPRanges", f"'{given}' is not an address range: {error}"
            ) from error


def _invalid(parameter: str, reason: str) -> AzureError:
    return bad_request(
        "InvalidParameter",
        f"The value of parameter {parameter} is invalid. Error details: {reason}. Please see "
        "https://aka.ms/aks-naming-rules for more details.",
        target=parameter,
    )
