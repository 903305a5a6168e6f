"""A cluster that is made in Azure, or one that somebody else made: what belongs to the one is refused in the other."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Final

from aks_infiniband.facts.size_defaults import GPU_OPERATOR_OFF, keeps_gpu_operator_off
from aks_infiniband.stack.settings.reading import Inconsistency, PoolReading, Reading, known

_AZURE_ONLY: Final = (
    *("autoscale", "labels", "os_sku", "os_disk_size_gb", "os_disk_type", "node_image_snapshot_id"),
    *("capacity_reservation_group_id", "priority", "zones"),
)


def _one_cluster(reading: Reading) -> Iterator[Inconsistency]:
    made = reading.settings.cluster is not None
    if made and not reading.in_azure:
        yield Inconsistency(("existingCluster",), None, "cannot stand beside aks-infiniband:cluster: keep one of them")
    elif not made and reading.in_azure:
        yield Inconsistency(
            ("cluster",),
            None,
            'is missing: give at least kubernetesVersion, such as {kubernetesVersion: "1.35"}; '
            "or name a cluster that is there under aks-infiniband:existingCluster",
        )


def _location(reading: Reading) -> Iterator[Inconsistency]:
    location, made = reading.settings.location, reading.settings.cluster is not None
    if made and reading.in_azure and location is None:
        yield Inconsistency(("location",), None, "is missing; it must name an Azure region, such as southcentralus")
    if not made and not reading.in_azure and location is not None:
        reason = "is Azure's, and an existing cluster has no Azure resource: remove it"
        yield Inconsistency(("location",), location, reason)


def _in_existing(pool: PoolReading) -> bool:
    return not pool.stack.in_azure and pool.stack.settings.cluster is None


def _node_selector(pool: PoolReading) -> Iterator[Inconsistency]:
    given, path = pool.given.node_selector, pool.path("nodeSelector")
    if _in_existing(pool) and not given:
        reason = (
            "is missing; in an existing cluster it must give the labels that the pool's nodes, and no others, carry"
        )
        yield Inconsistency(path, None, reason)
    if pool.stack.in_azure and pool.stack.settings.cluster is not None and given:
        reason = "is for pools of an existing cluster; the nodes of this one are told by their agent pool: leave it out"
        yield Inconsistency(path, given, reason)


def _ordinary(pool: PoolReading) -> Iterator[Inconsistency]:
    if _in_existing(pool) and not pool.infiniband:
        reason = "must be true in an existing cluster: its pools without InfiniBand are not listed"
        yield Inconsistency(pool.path("infiniband"), False, reason)


def _azure_only(pool: PoolReading) -> Iterator[Inconsistency]:
    if _in_existing(pool):
        for key, value in pool.given.given(*_AZURE_ONLY):
            reason = "is for pools that are made in Azure, and this one is in an existing cluster: leave it out"
            yield Inconsistency(pool.path(key), value, reason)


def _kept_off(pool: PoolReading) -> Iterator[Inconsistency]:
    """Nodes that somebody else labels, and that the GPU Operator of another pool would take for its own."""
    if not _in_existing(pool) or not pool.infiniband or pool.given.node_selector.get(GPU_OPERATOR_OFF) == "false":
        return
    owners = {owner for _, owner in known(pool.stack.pools, lambda other: other.gpu_driver)}
    if owners & {"operator", "aks"} and keeps_gpu_operator_off(pool.gpu_driver, pool.size, pool.given.vm_size):
        yield Inconsistency(
            pool.path("nodeSelector"),
            pool.given.node_selector,
            f'must hold {GPU_OPERATOR_OFF}: "false", and the nodes must carry it: the GPU Operator of '
            "the other pools would install its parts on these GPUs too",
        )


def _selectors(reading: Reading) -> Iterator[Inconsistency]:
    if reading.in_azure or reading.settings.cluster is not None:
        return
    selectors = known(reading.pools, lambda pool: pool.given.node_selector)
    for (pool, first), (other, second) in combinations(selectors, 2):
        if first and second and not _apart(first, second):
            yield Inconsistency(
                other.path("nodeSelector"),
                second,
                f"must not match the nodes of pool {pool.name}, {first}: two pools never share a fabric; give a label "
                "that both have another value",
            )


def _apart(first: Mapping[str, str], second: Mapping[str, str]) -> bool:
    """Whether no node can carry both: a label has one value."""
    return any(key in second and second[key] != value for key, value in first.items())


STACK = (_one_cluster, _location, _selectors)
POOL = (_ordinary, _node_selector, _azure_only, _kept_off)
