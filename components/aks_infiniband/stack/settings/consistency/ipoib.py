"""IPoIB networks: devices that the machines have, and addresses for all their pods."""

from collections.abc import Iterator
from typing import Final

from aks_infiniband.facts.catalog import MachineSize
from aks_infiniband.stack.settings import resolve
from aks_infiniband.stack.settings.consistency.seen import Inconsistency, Seen, SeenPool
from aks_infiniband.stack.settings.operators import IpoibSettings

_RANGE: Final = ("networkOperator", "ipoib", "range")


def check(seen: Seen) -> Iterator[Inconsistency]:
    """The pools in mode ipoib, and the addresses of their networks."""
    ipoib = seen.network_operator and seen.network_operator.ipoib
    for pool in seen.infiniband_pools:
        if pool.given.ipoib_devices and pool.mode not in {"ipoib", None}:
            reason = f"says nothing in mode {pool.mode}: leave it out, or set mode: ipoib"
            yield Inconsistency(pool.path("ipoibDevices"), list(pool.given.ipoib_devices), reason)
        elif pool.mode == "ipoib" and pool.size is not None:
            yield from _devices(pool, pool.size)
            if ipoib:
                yield from _rails(pool, pool.size, ipoib)
    if ipoib:
        yield from _addresses(seen, ipoib)


def _devices(pool: SeenPool, size: MachineSize) -> Iterator[Inconsistency]:
    given, path = pool.given.ipoib_devices or (), pool.path("ipoibDevices")
    if not given and not size.ipoib_devices and pool.sound("ipoibDevices"):
        reason = (
            f"is missing; mode ipoib needs the interface of an HCA, and that of {size.name} is not known: see "
            "`ip -brief link | grep ^ib` on such a machine"
        )
        yield Inconsistency(path, None, reason)
    if len(given) > size.infiniband.hca_count:
        reason = f"must list {_hcas(size)} at most, one for each"
        yield Inconsistency(path, list(given), reason)
    for place, device in enumerate(given):
        if device in given[:place]:
            yield Inconsistency((*path, place), device, "must be listed once")


def _rails(pool: SeenPool, size: MachineSize, ipoib: IpoibSettings) -> Iterator[Inconsistency]:
    if pool.given.ipoib_devices or ipoib.rails is None:
        return
    if ipoib.rails > size.infiniband.hca_count:
        reason = f"must not be more than the HCAs of a machine: {size.name} of pool {pool.name} has {_hcas(size)}"
        yield Inconsistency(("networkOperator", "ipoib", "rails"), ipoib.rails, reason)


def _hcas(size: MachineSize) -> str:
    return f"{size.infiniband.hca_count} HCA{'s' if size.infiniband.hca_count > 1 else ''}"


def _addresses(seen: Seen, ipoib: IpoibSettings) -> Iterator[Inconsistency]:
    """NV-IPAM gives each node of a network a block, from the addresses between the first and the last."""
    nodes: dict[str, int] = {}
    for pool in seen.infiniband_pools:
        if pool.mode == "ipoib":
            for device in pool.ipoib_devices or ():
                nodes[device] = nodes.get(device, 0) + (pool.most_nodes or 0)
    if not nodes or ipoib.range is None:
        return
    try:
        ranges = resolve.ipoib_ranges(ipoib.range, nodes)
    except ValueError:
        yield Inconsistency(_RANGE, str(ipoib.range), f"is too small to be split among {len(nodes)} networks")
        return
    fullest = max(nodes, key=lambda device: nodes[device])
    needed, room = nodes[fullest] * (ipoib.addresses_per_node or 0), max(0, ranges[fullest].num_addresses - 2)
    if needed > room:
        part = "it" if len(ranges) == 1 else f"{ranges[fullest]}, the part for the network on {fullest},"
        yield Inconsistency(
            _RANGE,
            str(ipoib.range),
            f"is too small: {nodes[fullest]} nodes with addressesPerNode {ipoib.addresses_per_node} need {needed} "
            f"addresses, and {part} has {room}",
        )
    if ipoib.gateway is not None and not any(ipoib.gateway in part for part in ranges.values()):
        reason = f"must lie in the part of range that a network has: {', '.join(map(str, ranges.values()))}"
        yield Inconsistency(("networkOperator", "ipoib", "gateway"), str(ipoib.gateway), reason)
