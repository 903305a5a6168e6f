"""IPoIB networks: devices that the machines have, and addresses for all their pods."""

from collections.abc import Iterator
from typing import Final

from aks_infiniband.facts.catalog import MachineSize
from aks_infiniband.operators.ipoib import ipoib_ranges
from aks_infiniband.stack.settings.reading import Inconsistency, PoolReading, Reading, known

_RANGE: Final = ("networkOperator", "ipoib", "range")


def _mode(pool: PoolReading) -> Iterator[Inconsistency]:
    if pool.infiniband and pool.given.ipoib_devices and pool.mode != "ipoib":
        reason = f"says nothing in mode {pool.mode}: leave it out, or set mode: ipoib"
        yield Inconsistency(pool.path("ipoibDevices"), list(pool.given.ipoib_devices), reason)


def _devices(pool: PoolReading) -> Iterator[Inconsistency]:
    if not pool.infiniband or pool.mode != "ipoib":
        return
    given, size, path = pool.given.ipoib_devices, pool.size, pool.path("ipoibDevices")
    if not given and not size.ipoib_devices:
        reason = (
            f"is missing; mode ipoib needs the interface of an HCA, and that of {size.name} is not known: see "
            "`ip -brief link | grep ^ib` on such a machine"
        )
        yield Inconsistency(path, None, reason)
    if len(given) > size.infiniband.hca_count:
        yield Inconsistency(path, list(given), f"must list {_hcas(size)} at most, one for each")
    for place, device in enumerate(given):
        if device in given[:place]:
            yield Inconsistency((*path, place), device, "must be listed once")


def _rails(pool: PoolReading) -> Iterator[Inconsistency]:
    if not pool.infiniband or pool.mode != "ipoib" or pool.given.ipoib_devices:
        return
    rails, size = pool.stack.settings.network_operator.ipoib.rails, pool.size
    if rails > size.infiniband.hca_count:
        reason = f"must not be more than the HCAs of a machine: {size.name} of pool {pool.name} has {_hcas(size)}"
        yield Inconsistency(("networkOperator", "ipoib", "rails"), rails, reason)


def _hcas(size: MachineSize) -> str:
    return f"{size.infiniband.hca_count} HCA{'s' if size.infiniband.hca_count > 1 else ''}"


def _nodes(reading: Reading) -> dict[str, int]:
    """By device, the nodes of the network on it; at the least, where of some pool it cannot be told."""
    nodes: dict[str, int] = {}
    for pool, devices in known(reading.infiniband_pools, lambda pool: pool.ipoib_devices):
        ((_, most),) = known([pool], lambda pool: pool.most_nodes) or [(pool, 0)]
        for device in devices:
            nodes[device] = nodes.get(device, 0) + most
    return nodes


def _addresses(reading: Reading) -> Iterator[Inconsistency]:
    """NV-IPAM gives each node of a network a block, from the addresses between the first and the last."""
    ipoib, nodes = reading.settings.network_operator.ipoib, _nodes(reading)
    if not nodes:
        return
    try:
        ranges = ipoib_ranges(ipoib.range, nodes)
    except ValueError:
        yield Inconsistency(_RANGE, str(ipoib.range), f"is too small to be split among {len(nodes)} networks")
        return
    fullest = max(nodes, key=lambda device: nodes[device])
    needed, room = nodes[fullest] * ipoib.addresses_per_node, max(0, ranges[fullest].num_addresses - 2)
    if needed > room:
        part = "it" if len(ranges) == 1 else f"{ranges[fullest]}, the part for the network on {fullest},"
        yield Inconsistency(
            _RANGE,
            str(ipoib.range),
            f"is too small: {nodes[fullest]} nodes with addressesPerNode {ipoib.addresses_per_node} need {needed} "
            f"addresses, and {part} has {room}",
        )


def _gateway(reading: Reading) -> Iterator[Inconsistency]:
    ipoib, nodes = reading.settings.network_operator.ipoib, _nodes(reading)
    gateway = ipoib.gateway
    if gateway is None or not nodes:
        return
    try:
        parts = ipoib_ranges(ipoib.range, nodes).values()
    except ValueError:
        return
    if not any(gateway in part for part in parts):
        reason = f"must lie in the part of range that a network has: {', '.join(map(str, parts))}"
        yield Inconsistency(("networkOperator", "ipoib", "gateway"), str(gateway), reason)


STACK = (_addresses, _gateway)
POOL = (_mode, _devices, _rails)
