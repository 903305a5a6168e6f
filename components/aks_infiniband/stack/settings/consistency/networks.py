"""Address ranges of the cluster and of IPoIB networks: apart from one another, large enough, on devices that exist."""

from collections.abc import Callable, Iterator
from ipaddress import IPv4Network
from itertools import combinations
from math import ceil
from typing import Final

from aks_infiniband.facts.catalog.machine import MachineSize
from aks_infiniband.facts.modes import ACCESS
from aks_infiniband.operators.ipoib import ipoib_ranges
from aks_infiniband.stack.settings.mistakes import Mistake, wrong
from aks_infiniband.stack.settings.reading import PoolReading, Reading, known, listed_once

SMALLEST_SERVICES: Final = 27
"""Prefix of the least range of services: 30 addresses, of which the tenth is the cluster's DNS."""
RESERVED_IN_SUBNET: Final = 5
"""Addresses that Azure keeps in every subnet: the first four and the last (Azure, "Virtual Network FAQ",
read 2026-11-22)."""
SYSTEM_SURGE: Final = 1
"""Nodes that AKS adds to the system pool while it upgrades it; the InfiniBand pools add none."""
ORDINARY_SURGE: Final = 0.1
"""Part of an ordinary pool's nodes that AKS adds to it (Azure, "Upgrade an AKS cluster": max surge)."""
_NETWORK: Final = ("cluster", "network")
_IPOIB: Final = ("networkOperator", "ipoib")


def _node_subnet(reading: Reading) -> Iterator[Mistake]:
    if reading.cluster.network.node_subnet_id is not None:
        yield from _left_out(reading, ("address_space", "subnet"), "nodeSubnetId: no virtual network is made")


def _pod_subnet(reading: Reading) -> Iterator[Mistake]:
    network = reading.cluster.network
    if network.pod_subnet_id is not None:
        yield from _left_out(reading, ("pod_cidr",), "podSubnetId: the cluster does not have an overlay")
        if network.node_subnet_id is None:
            reason = "needs nodeSubnetId, a subnet of the same virtual network"
            yield wrong((*_NETWORK, "podSubnetId"), network.pod_subnet_id, reason)


def _left_out(reading: Reading, names: tuple[str, ...], why: str) -> Iterator[Mistake]:
    for key, value in reading.cluster.network.given(*names):
        yield wrong((*_NETWORK, key), value, f"must be left out with {why}")


def _way_out(reading: Reading) -> Iterator[Mistake]:
    network = reading.cluster.network
    if network.outbound_type != "loadBalancer" and network.node_subnet_id is None:
        reason = "needs nodeSubnetId: a subnet in which the way out (a NAT gateway, a route table, or none) is prepared"
        yield wrong((*_NETWORK, "outboundType"), network.outbound_type, reason)


def _no_way_out(reading: Reading) -> Iterator[Mistake]:
    if reading.cluster.network.outbound_type == "none" and reading.settings.registry.images is None:
        reason = "is missing; with outboundType none no image is pulled from the internet: name a mirror of them"
        yield wrong(("registry", "images"), None, reason)


def _services(reading: Reading) -> Iterator[Mistake]:
    services = reading.cluster.network.service_cidr
    if not 12 <= services.prefixlen <= SMALLEST_SERVICES:
        reason = (
            f"must be a /12 to /{SMALLEST_SERVICES}: AKS takes none larger, and a smaller one is too small for the "
            "cluster's own services"
        )
        yield wrong((*_NETWORK, "serviceCidr"), str(services), reason)


def _ranges(reading: Reading) -> dict[tuple[str, ...], Callable[[], IPv4Network | None]]:
    """For each range of the stack, by its path, what reads it; None for a range that is not made."""
    network, operator = reading.cluster.network, reading.settings.network_operator
    return {
        (*_NETWORK, "addressSpace"): lambda: network.address_space if network.node_subnet_id is None else None,
        (*_NETWORK, "podCidr"): lambda: network.pod_cidr if network.pod_subnet_id is None else None,
        (*_NETWORK, "serviceCidr"): lambda: network.service_cidr,
        (*_IPOIB, "range"): lambda: (
            operator.ipoib.range
            if any(ACCESS[mode].networks for _, mode in known(reading.infiniband_pools, lambda pool: pool.facts.mode))
            else None
        ),
    }


def _overlaps(reading: Reading) -> Iterator[Mistake]:
    ranges = known(_ranges(reading).items(), lambda item: item[1]())
    for ((path, _), first), ((other, _), second) in combinations(ranges, 2):
        if first is not None and second is not None and first.overlaps(second):
            key = path[-1] if other[: len(_NETWORK)] == _NETWORK else f"aks-infiniband:{'.'.join(path)}"
            yield wrong(other, str(second), f"must not overlap {key} {first}")


def _within(reading: Reading) -> Iterator[Mistake]:
    network = reading.cluster.network
    if network.node_subnet_id is None and not network.subnet.subnet_of(network.address_space):
        reason = f"must lie within addressSpace {network.address_space}"
        yield wrong((*_NETWORK, "subnet"), str(network.subnet), reason)


def _nodes(reading: Reading) -> tuple[int, int]:
    """Nodes, and further ones during an upgrade; a pool whose count is not well-formed is left out."""
    system = sum(count for _, count in known([reading.cluster], lambda cluster: cluster.system_pool.count))
    most = known(reading.pools, lambda pool: pool.most_nodes)
    ordinary = known(most, lambda entry: 0 if entry[0].infiniband else ceil(entry[1] * ORDINARY_SURGE))
    return system + sum(nodes for _, nodes in most), SYSTEM_SURGE + sum(surge for _, surge in ordinary)


def _own_subnet(reading: Reading) -> Iterator[Mistake]:
    """With the overlay every node takes one address of the subnet (Azure, "Azure CNI Overlay")."""
    network, (nodes, surge) = reading.cluster.network, _nodes(reading)
    addresses = max(0, network.subnet.num_addresses - RESERVED_IN_SUBNET)
    if network.node_subnet_id is None and nodes + surge > addresses:
        reason = f"has {addresses} addresses for nodes; the stack has {nodes}, and an upgrade takes {surge} more"
        yield wrong((*_NETWORK, "subnet"), str(network.subnet), reason)


def _pods(reading: Reading) -> Iterator[Mistake]:
    """With the overlay every node takes a /24 of the pods' range (Azure, "Azure CNI Overlay")."""
    network, (nodes, _) = reading.cluster.network, _nodes(reading)
    room = network.pod_cidr.num_addresses // 256
    if network.pod_subnet_id is None and nodes > room:
        reason = f"has room for {room} nodes, a /24 for each; the stack has {nodes}"
        yield wrong((*_NETWORK, "podCidr"), str(network.pod_cidr), reason)


def _mode(pool: PoolReading) -> Iterator[Mistake]:
    if pool.infiniband and pool.ipoib_devices and not ACCESS[pool.facts.mode].networks:
        reason = f"says nothing in mode {pool.facts.mode}: leave it out, or set mode: ipoib"
        yield wrong(pool.path("ipoibDevices"), list(pool.ipoib_devices), reason)


def _devices(pool: PoolReading) -> Iterator[Mistake]:
    if not pool.infiniband or not ACCESS[pool.facts.mode].networks:
        return
    devices, size, path = pool.ipoib_devices, pool.facts.size, pool.path("ipoibDevices")
    if not devices and not size.ipoib_devices:
        reason = (
            f"is missing; mode ipoib needs the interface of an HCA, and that of {size.name} is not known: see "
            "`ip -brief link | grep ^ib` on such a machine"
        )
        yield wrong(path, None, reason)
    if len(devices) > size.infiniband.hca_count:
        yield wrong(path, list(devices), f"must list {_hcas(size)} at most, one for each")
    yield from listed_once(path, devices)
    # An image that renames nothing has the kernel's own names.
    there = {*size.ipoib_devices, *(f"ib{number}" for number in range(size.infiniband.hca_count))}
    if strange := [device for device in devices if size.ipoib_devices and device not in there]:
        known_ones = f"{', '.join(size.ipoib_devices)}, or ib0 and on; no {', '.join(strange)}"
        reason = f"must be interfaces of {size.name}'s HCAs, {known_ones}"
        yield wrong(path, list(devices), reason)


def _rails(pool: PoolReading) -> Iterator[Mistake]:
    if not pool.infiniband or not ACCESS[pool.facts.mode].networks or pool.ipoib_devices:
        return
    rails, size = pool.stack.settings.network_operator.ipoib.rails, pool.facts.size
    if rails > size.infiniband.hca_count:
        reason = f"must not be more than the HCAs of a machine: {size.name} of pool {pool.name} has {_hcas(size)}"
        yield wrong((*_IPOIB, "rails"), rails, reason)


def _hcas(size: MachineSize) -> str:
    return f"{size.infiniband.hca_count} HCA{'s' if size.infiniband.hca_count > 1 else ''}"


def _ipoib_nodes(reading: Reading) -> dict[str, int]:
    """By device, the nodes of the network on it; a pool whose count is not well-formed adds none."""
    nodes: dict[str, int] = {}
    for pool, devices in known(reading.infiniband_pools, lambda pool: pool.facts.ipoib_devices):
        most = sum(count for _, count in known([pool], lambda pool: pool.most_nodes))
        for device in devices:
            nodes[device] = nodes.get(device, 0) + most
    return nodes


def _ipoib(reading: Reading) -> Iterator[Mistake]:
    """NV-IPAM gives each node of a network a block, from the addresses between the first and the last."""
    ipoib, nodes = reading.settings.network_operator.ipoib, _ipoib_nodes(reading)
    if not nodes:
        return
    path, written = (*_IPOIB, "range"), str(ipoib.range)
    try:
        ranges = ipoib_ranges(ipoib.range, nodes)
    except ValueError:
        yield wrong(path, written, f"is too small to be split among {len(nodes)} networks")
        return
    for _, gateway in known([ipoib], lambda ipoib: ipoib.gateway):
        ends = {end for part in ranges.values() for end in (part.network_address, part.broadcast_address)}
        if gateway is not None and (gateway in ends or not any(gateway in part for part in ranges.values())):
            reason = (
                f"must lie in the part of range that a network has, {', '.join(map(str, ranges.values()))}, and be "
                "neither its first address nor its last"
            )
            yield wrong((*_IPOIB, "gateway"), str(gateway), reason)
    fullest = max(nodes, key=lambda device: nodes[device])
    needed, room = nodes[fullest] * ipoib.addresses_per_node, max(0, ranges[fullest].num_addresses - 2)
    if needed > room:
        part = "it" if len(ranges) == 1 else f"{ranges[fullest]}, the part for the network on {fullest},"
        reason = (
            f"is too small: {nodes[fullest]} nodes with addressesPerNode {ipoib.addresses_per_node} need {needed} "
            f"addresses, and {part} has {room}"
        )
        yield wrong(path, written, reason)


def _without_networks(reading: Reading) -> Iterator[Mistake]:
    """Settings for networks that no pool has."""
    modes = known(reading.infiniband_pools, lambda pool: pool.facts.mode)
    if len(modes) < len(reading.infiniband_pools) or any(ACCESS[mode].networks for _, mode in modes):
        return
    ipoib = reading.settings.network_operator.ipoib
    for key, value in ipoib.given(*type(ipoib).model_fields):
        yield wrong((*_IPOIB, key), value, "says nothing: no pool has mode ipoib; leave it out, or set mode: ipoib")


STACK = (
    _node_subnet,
    _pod_subnet,
    _way_out,
    _no_way_out,
    _services,
    _overlaps,
    _within,
    _own_subnet,
    _pods,
    _ipoib,
    _without_networks,
)
POOL = (_mode, _devices, _rails)
