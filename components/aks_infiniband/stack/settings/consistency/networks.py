"""Address ranges of the cluster: apart from one another, large enough, and of a network that is either ours or not."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import combinations
from math import ceil
from typing import Any, Final

from aks_infiniband.stack.settings.cluster import NetworkSettings
from aks_infiniband.stack.settings.consistency.seen import Inconsistency, Seen

SMALLEST_SERVICES: Final = 27
"""Prefix of the least range of services: 30 addresses, of which the tenth is the cluster's DNS."""
_RESERVED_IN_SUBNET: Final = 5
"""Addresses that Azure keeps in every subnet (Azure, "Virtual Network FAQ")."""
_SYSTEM_SURGE: Final = 1
"""Nodes that AKS adds to the system pool while it upgrades it; the InfiniBand pools add none."""
_ORDINARY_SURGE: Final = 0.1
"""Part of an ordinary pool's nodes that AKS adds to it (Azure, "Upgrade an AKS cluster": max surge)."""
_PATH: Final = ("cluster", "network")


def check(seen: Seen) -> Iterator[Inconsistency]:
    """Of a cluster that is made; of an existing one nothing is known."""
    network = seen.cluster and seen.cluster.network
    if not network:
        return
    yield from _given_subnets(seen, network)
    yield from _no_way_out(seen, network)
    yield from _services(network)
    yield from _overlaps(seen, network)
    if network.node_subnet_id is None:
        yield from _own_subnet(seen, network)
    if network.pod_subnet_id is None:
        yield from _pods(seen, network)


def _left_out(network: NetworkSettings, keys: dict[str, str], why: str) -> Iterator[Inconsistency]:
    for name, key in keys.items():
        value: Any = getattr(network, name)
        if name in network.model_fields_set and value is not None:
            yield Inconsistency((*_PATH, key), str(value), f"must be left out with {why}")


def _given_subnets(seen: Seen, network: NetworkSettings) -> Iterator[Inconsistency]:
    if network.node_subnet_id is not None:
        why = "nodeSubnetId: no virtual network is made"
        yield from _left_out(network, {"address_space": "addressSpace", "subnet": "subnet"}, why)
    if network.pod_subnet_id is not None:
        yield from _left_out(network, {"pod_cidr": "podCidr"}, "podSubnetId: there is no overlay")
    if seen.is_wrong(*_PATH, "nodeSubnetId") or network.node_subnet_id is not None:
        return
    if network.pod_subnet_id is not None:
        yield Inconsistency(
            (*_PATH, "podSubnetId"), network.pod_subnet_id, "needs nodeSubnetId, a subnet of the same virtual network"
        )
    if network.outbound_type not in {None, "loadBalancer"}:
        yield Inconsistency(
            (*_PATH, "outboundType"),
            network.outbound_type,
            "needs nodeSubnetId: a subnet in which the way out (a NAT gateway, a route table, or none) is prepared",
        )


def _no_way_out(seen: Seen, network: NetworkSettings) -> Iterator[Inconsistency]:
    registry = seen.settings.registry
    if network.outbound_type != "none" or registry is None or seen.is_wrong("registry", "images"):
        return
    if registry.images is None:
        reason = "is missing; with outboundType none no image is pulled from the internet: name a mirror of them"
        yield Inconsistency(("registry", "images"), None, reason)


def _services(network: NetworkSettings) -> Iterator[Inconsistency]:
    services = network.service_cidr
    if services is not None and not 12 <= services.prefixlen <= SMALLEST_SERVICES:
        yield Inconsistency(
            (*_PATH, "serviceCidr"),
            str(services),
            f"must be a /12 to /{SMALLEST_SERVICES}: AKS takes none larger, and a smaller one has no room for the "
            "cluster's own services",
        )


def _overlaps(seen: Seen, network: NetworkSettings) -> Iterator[Inconsistency]:
    ranges: dict[tuple[str, ...], IPv4Network | None] = {(*_PATH, "serviceCidr"): network.service_cidr}
    if network.pod_subnet_id is None:
        ranges = {(*_PATH, "podCidr"): network.pod_cidr, **ranges}
    if network.node_subnet_id is None:
        ranges = {(*_PATH, "addressSpace"): network.address_space, **ranges}
    operator = seen.network_operator
    if operator and operator.ipoib and any(pool.mode == "ipoib" for pool in seen.infiniband_pools):
        ranges["networkOperator", "ipoib", "range"] = operator.ipoib.range
    for (one, first), (other, second) in combinations(ranges.items(), 2):
        if first is not None and second is not None and first.overlaps(second):
            key = one[-1] if other[: len(_PATH)] == _PATH else f"aks-infiniband:{'.'.join(one)}"
            yield Inconsistency(other, str(second), f"must not overlap {key} {first}")


def _nodes(seen: Seen) -> int:
    system = seen.cluster and seen.cluster.system_pool
    return ((system and system.count) or 0) + sum(pool.most_nodes or 0 for pool in seen.pools)


def _own_subnet(seen: Seen, network: NetworkSettings) -> Iterator[Inconsistency]:
    """With the overlay every node takes one address of the subnet (Azure, "Azure CNI Overlay")."""
    if network.subnet is None:
        return
    path = (*_PATH, "subnet")
    if network.address_space is not None and not network.subnet.subnet_of(network.address_space):
        yield Inconsistency(path, str(network.subnet), f"must lie within addressSpace {network.address_space}")
    nodes, surge = _nodes(seen), _SYSTEM_SURGE
    surge += sum(ceil((pool.most_nodes or 0) * _ORDINARY_SURGE) for pool in seen.pools if not pool.infiniband)
    addresses = max(0, network.subnet.num_addresses - _RESERVED_IN_SUBNET)
    if nodes + surge > addresses:
        yield Inconsistency(
            path,
            str(network.subnet),
            f"has {addresses} addresses for nodes; the stack has {nodes}, and an upgrade takes {surge} more",
        )


def _pods(seen: Seen, network: NetworkSettings) -> Iterator[Inconsistency]:
    """With the overlay every node takes a /24 of the pods' range (Azure, "Azure CNI Overlay")."""
    if network.pod_cidr is None:
        return
    room, nodes = network.pod_cidr.num_addresses // 256, _nodes(seen)
    if nodes > room:
        reason = f"has room for {room} nodes, a /24 for each; the stack has {nodes}"
        yield Inconsistency((*_PATH, "podCidr"), str(network.pod_cidr), reason)
