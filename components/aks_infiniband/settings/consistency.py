"""What a value may be only in view of others. Each check gets the sections that are well-formed in themselves."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, Final, NamedTuple

from aks_infiniband.settings.model import ClusterSettings, NetworkSettings, Readiness, ValidationSettings

SMALLEST_SERVICES: Final = 27
"""Prefix of the least range of services: 30 addresses, of which the tenth is the cluster's DNS."""
_RESERVED_IN_SUBNET: Final = 5
"""Addresses that Azure keeps in every subnet (Azure, "Virtual Network FAQ")."""
_SURGE: Final = 1
"""Nodes that AKS adds to the system pool while it upgrades it; the InfiniBand pools add none."""

Pools = Mapping[int, Mapping[str, Any]]


class Inconsistency(NamedTuple):
    """A value that does not go together with another: its path below the namespace, itself, and why."""

    path: tuple[str | int, ...]
    value: Any
    reason: str


def check(sections: Mapping[str, Any]) -> Iterator[Inconsistency]:
    """Every inconsistency among the sections.

    sections: by key; one that is not well-formed is absent. Of pools, by index, the well-formed fields by key.
    """
    pools: Pools = sections.get("pools", {})
    cluster: ClusterSettings | None = sections.get("cluster")
    validation: ValidationSettings | None = sections.get("validation")
    yield from _pool_names(pools)
    yield from _taints(pools)
    if validation is not None and validation.mode != "off":
        yield from _lonely_pools(pools)
    yield from _patience(sections.get("readiness"))
    if cluster is not None:
        yield from _resource_groups(cluster)
        yield from _networks(cluster.network)
        yield from _room(cluster, sum(pool.get("count", 0) for pool in pools.values()))


def _pool_names(pools: Pools) -> Iterator[Inconsistency]:
    first: dict[str, int] = {}
    for index, pool in pools.items():
        path, name = ("pools", index, "name"), pool.get("name")
        if name == "system":
            yield Inconsistency(path, name, "is the name of the cluster's system pool")
        if name is not None and first.setdefault(name, index) != index:
            yield Inconsistency(path, name, f"must be unique: pools[{first[name]}] has it too")


def _taints(pools: Pools) -> Iterator[Inconsistency]:
    """Kubernetes takes one taint for each key and effect (core/v1, NodeSpec.taints)."""
    for index, pool in pools.items():
        first: dict[tuple[str, str], str] = {}
        for place, taint in enumerate(pool.get("taints", ())):
            key_value, _, effect = taint.rpartition(":")
            identity = (key_value.partition("=")[0], effect)
            if identity in first:
                reason = f"must not have key and effect in common with {first[identity]!r}"
                yield Inconsistency(("pools", index, "taints", place), taint, reason)
            first.setdefault(identity, taint)


def _lonely_pools(pools: Pools) -> Iterator[Inconsistency]:
    for index, pool in pools.items():
        if pool.get("count", 2) < 2:
            yield Inconsistency(
                ("pools", index, "count"),
                pool["count"],
                "must be 2 or more, because a pool is validated across its nodes; "
                "or set aks-infiniband:validation mode to off",
            )


def _patience(readiness: Readiness | None) -> Iterator[Inconsistency]:
    """What a wait needs at the least must fit into its limit."""
    if readiness is None:
        return
    for key, seconds in (("pollSeconds", readiness.poll_seconds), ("stableSeconds", readiness.stable_seconds)):
        if seconds >= readiness.timeout_seconds:
            yield Inconsistency(
                ("readiness", key), seconds, f"must be less than timeoutSeconds, {readiness.timeout_seconds:g}"
            )


def _resource_groups(cluster: ClusterSettings) -> Iterator[Inconsistency]:
    given = cluster.node_resource_group
    if given is not None and given.lower() == (cluster.resource_group or cluster.name or "").lower():
        yield Inconsistency(
            ("cluster", "nodeResourceGroup"), given, "must not be the cluster's own: AKS makes a second group"
        )


def _networks(network: NetworkSettings) -> Iterator[Inconsistency]:
    path = ("cluster", "network")
    if not network.subnet.subnet_of(network.address_space):
        yield Inconsistency(
            (*path, "subnet"), str(network.subnet), f"must lie within addressSpace {network.address_space}"
        )
    if not 12 <= network.service_cidr.prefixlen <= SMALLEST_SERVICES:
        yield Inconsistency(
            (*path, "serviceCidr"),
            str(network.service_cidr),
            f"must be a /12 to /{SMALLEST_SERVICES}: AKS takes none larger, and a smaller one has no room for the "
            "cluster's own services",
        )
    ranges = {
        "addressSpace": network.address_space,
        "podCidr": network.pod_cidr,
        "serviceCidr": network.service_cidr,
    }
    for (one, first), (other, second) in combinations(ranges.items(), 2):
        if first.overlaps(second):
            yield Inconsistency((*path, other), str(second), f"must not overlap {one} {first}")


def _room(cluster: ClusterSettings, infiniband_nodes: int) -> Iterator[Inconsistency]:
    """With the overlay every node takes an address of the subnet and a /24 of the pods' range.

    Source: Azure, "Azure CNI Overlay", IP address planning.
    """
    nodes = cluster.system_pool.count + infiniband_nodes
    addresses = max(0, cluster.network.subnet.num_addresses - _RESERVED_IN_SUBNET)
    if nodes + _SURGE > addresses:
        yield Inconsistency(
            ("cluster", "network", "subnet"),
            str(cluster.network.subnet),
            f"has {addresses} addresses for nodes; the stack has {nodes}, and an upgrade takes {_SURGE} more",
        )
    room = cluster.network.pod_cidr.num_addresses // 256
    if nodes > room:
        yield Inconsistency(
            ("cluster", "network", "podCidr"),
            str(cluster.network.pod_cidr),
            f"has room for {room} nodes, a /24 for each; the stack has {nodes}",
        )
