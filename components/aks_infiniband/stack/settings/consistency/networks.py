"""Address ranges of the cluster: apart from one another, large enough, and of a network that is either ours or not."""

from collections.abc import Callable, Iterator
from ipaddress import IPv4Network
from itertools import combinations
from math import ceil
from typing import Final

from aks_infiniband.stack.settings.base import Unreadable
from aks_infiniband.stack.settings.cluster import NetworkSettings
from aks_infiniband.stack.settings.reading import Inconsistency, Reading, known

SMALLEST_SERVICES: Final = 27
"""Prefix of the least range of services: 30 addresses, of which the tenth is the cluster's DNS."""
_RESERVED_IN_SUBNET: Final = 5
"""Addresses that Azure keeps in every subnet (Azure, "Virtual Network FAQ")."""
_SYSTEM_SURGE: Final = 1
"""Nodes that AKS adds to the system pool while it upgrades it; the InfiniBand pools add none."""
_ORDINARY_SURGE: Final = 0.1
"""Part of an ordinary pool's nodes that AKS adds to it (Azure, "Upgrade an AKS cluster": max surge)."""
_PATH: Final = ("cluster", "network")


def _network(reading: Reading) -> NetworkSettings:
    """Of a cluster that is made; Unreadable for an existing one, of which nothing is known."""
    if reading.settings.cluster is None:
        raise Unreadable("cluster")
    return reading.settings.cluster.network


def _left_out(network: NetworkSettings, names: tuple[str, ...], why: str) -> Iterator[Inconsistency]:
    for key, value in network.given(*names):
        yield Inconsistency((*_PATH, key), value, f"must be left out with {why}")


def _node_subnet(reading: Reading) -> Iterator[Inconsistency]:
    network = _network(reading)
    if network.node_subnet_id is not None:
        yield from _left_out(network, ("address_space", "subnet"), "nodeSubnetId: no virtual network is made")


def _pod_subnet(reading: Reading) -> Iterator[Inconsistency]:
    network = _network(reading)
    if network.pod_subnet_id is not None:
        yield from _left_out(network, ("pod_cidr",), "podSubnetId: there is no overlay")
        if network.node_subnet_id is None:
            reason = "needs nodeSubnetId, a subnet of the same virtual network"
            yield Inconsistency((*_PATH, "podSubnetId"), network.pod_subnet_id, reason)


def _way_out(reading: Reading) -> Iterator[Inconsistency]:
    network = _network(reading)
    if network.outbound_type != "loadBalancer" and network.node_subnet_id is None:
        yield Inconsistency(
            (*_PATH, "outboundType"),
            network.outbound_type,
            "needs nodeSubnetId: a subnet in which the way out (a NAT gateway, a route table, or none) is prepared",
        )


def _no_way_out(reading: Reading) -> Iterator[Inconsistency]:
    if _network(reading).outbound_type == "none" and reading.settings.registry.images is None:
        reason = "is missing; with outboundType none no image is pulled from the internet: name a mirror of them"
        yield Inconsistency(("registry", "images"), None, reason)


def _services(reading: Reading) -> Iterator[Inconsistency]:
    services = _network(reading).service_cidr
    if not 12 <= services.prefixlen <= SMALLEST_SERVICES:
        yield Inconsistency(
            (*_PATH, "serviceCidr"),
            str(services),
            f"must be a /12 to /{SMALLEST_SERVICES}: AKS takes none larger, and a smaller one has no room for the "
            "cluster's own services",
        )


def _ranges(reading: Reading) -> dict[tuple[str, ...], Callable[[], IPv4Network | None]]:
    """What reads each range of the stack, by its path; None for one that is not made."""
    network, operator = _network(reading), reading.settings.network_operator
    return {
        (*_PATH, "addressSpace"): lambda: network.address_space if network.node_subnet_id is None else None,
        (*_PATH, "podCidr"): lambda: network.pod_cidr if network.pod_subnet_id is None else None,
        (*_PATH, "serviceCidr"): lambda: network.service_cidr,
        ("networkOperator", "ipoib", "range"): lambda: (
            operator.ipoib.range
            if any(mode == "ipoib" for _, mode in known(reading.infiniband_pools, lambda pool: pool.mode))
            else None
        ),
    }


def _overlaps(reading: Reading) -> Iterator[Inconsistency]:
    ranges = known(_ranges(reading).items(), lambda item: item[1]())
    for ((path, _), first), ((other, _), second) in combinations(ranges, 2):
        if first is not None and second is not None and first.overlaps(second):
            key = path[-1] if other[: len(_PATH)] == _PATH else f"aks-infiniband:{'.'.join(path)}"
            yield Inconsistency(other, str(second), f"must not overlap {key} {first}")


def _within(reading: Reading) -> Iterator[Inconsistency]:
    network = _network(reading)
    if network.node_subnet_id is None and not network.subnet.subnet_of(network.address_space):
        reason = f"must lie within addressSpace {network.address_space}"
        yield Inconsistency((*_PATH, "subnet"), str(network.subnet), reason)


def _nodes(reading: Reading) -> tuple[int, int]:
    """Nodes, and further ones during an upgrade; at the least, where of some pool that cannot be told."""
    cluster = reading.settings.cluster
    system = sum(count for _, count in known([cluster], lambda cluster: cluster.system_pool.count if cluster else 0))
    most = known(reading.pools, lambda pool: pool.most_nodes)
    ordinary = known(most, lambda found: 0 if found[0].infiniband else ceil(found[1] * _ORDINARY_SURGE))
    return system + sum(nodes for _, nodes in most), _SYSTEM_SURGE + sum(surge for _, surge in ordinary)


def _own_subnet(reading: Reading) -> Iterator[Inconsistency]:
    """With the overlay every node takes one address of the subnet (Azure, "Azure CNI Overlay")."""
    network, (nodes, surge) = _network(reading), _nodes(reading)
    addresses = max(0, network.subnet.num_addresses - _RESERVED_IN_SUBNET)
    if network.node_subnet_id is None and nodes + surge > addresses:
        yield Inconsistency(
            (*_PATH, "subnet"),
            str(network.subnet),
            f"has {addresses} addresses for nodes; the stack has {nodes}, and an upgrade takes {surge} more",
        )


def _pods(reading: Reading) -> Iterator[Inconsistency]:
    """With the overlay every node takes a /24 of the pods' range (Azure, "Azure CNI Overlay")."""
    network, (nodes, _) = _network(reading), _nodes(reading)
    room = network.pod_cidr.num_addresses // 256
    if network.pod_subnet_id is None and nodes > room:
        reason = f"has room for {room} nodes, a /24 for each; the stack has {nodes}"
        yield Inconsistency((*_PATH, "podCidr"), str(network.pod_cidr), reason)


STACK = (_node_subnet, _pod_subnet, _way_out, _no_way_out, _services, _overlaps, _within, _own_subnet, _pods)
POOL = ()
