"""Azure's requirements for the network of a cluster and its pools: subnets, ways out, and access to the API server."""

import ipaddress
from collections.abc import Mapping
from typing import Any

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import refused
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
        raise refused("pod-subnet-with-overlay", name=pool["name"])
    if _network_of(nodes) != _network_of(pods):
        raise refused("pod-subnet-of-another-network")
    if nodes.casefold() == pods.casefold():
        raise refused("pod-subnet-is-the-node-subnet")


def _network_of(subnet: str) -> str:
    return subnet.casefold().partition("/subnets/")[0]


def _require_subnet(cloud: Cloud, pool: Mapping[str, Any], subnet: str, region: str) -> None:
    existing = by_id(cloud.subscription.existing_subnets, subnet)
    elsewhere = existing is not None and existing.region != region
    if subnet and (elsewhere or find_subnet(cloud, subnet) is None):
        raise refused("no-such-subnet", subnet=subnet, name=pool["name"])


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
            raise refused("own-way-out-without-a-subnet", outbound=outbound, name=pool["name"])
        _require_prepared(outbound, subnet, by_id(cloud.subscription.existing_subnets, subnet), cloud)


def _require_prepared(outbound: str, subnet: str, existing: ExistingSubnet | None, cloud: Cloud) -> None:
    record = cloud.store.get(subnet)
    shown = record.outputs if record else {}
    if outbound == "userDefinedRouting" and not (existing.route_table if existing else shown.get("routeTable")):
        raise refused("no-route-table", subnet=subnet)
    if outbound == "userAssignedNATGateway" and not (existing.nat_gateway if existing else shown.get("natGateway")):
        raise refused("no-nat-gateway", subnet=subnet)


def require_api_server_access(cluster: Mapping[str, Any], before: Mapping[str, Any] | None) -> None:
    """Refuse authorized ranges of a private cluster, malformed ranges, and a change between private and public."""
    access = cluster.get("apiServerAccessProfile") or {}
    ranges, private = access.get("authorizedIPRanges") or [], bool(access.get("enablePrivateCluster"))
    if before is not None:
        was = bool((before.get("apiServerAccessProfile") or {}).get("enablePrivateCluster"))
        if was != private:
            # Azure, "Create a private AKS cluster", limitations: an existing cluster cannot be converted.
            raise refused("private-cluster-changes")
    if private and ranges:
        raise refused("private-cluster-with-ranges")
    if "0.0.0.0/32" in ranges and len(ranges) > 1:
        raise refused("no-range-with-other-ranges")
    for text in ranges:
        try:
            ipaddress.ip_network(text)
        except ValueError as error:
            raise refused("authorized-range", given=text, error=error) from error
