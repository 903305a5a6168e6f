"""A cluster that is made in Azure, or one that somebody else made: what belongs to the one is refused in the other."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Final

from aks_infiniband.stack.settings import resolve
from aks_infiniband.stack.settings.consistency.seen import Inconsistency, Seen, SeenPool

_AZURE_ONLY: Final = {
    "autoscale": "autoscale",
    "labels": "labels",
    "os_sku": "osSku",
    "os_disk_size_gb": "osDiskSizeGb",
    "os_disk_type": "osDiskType",
    "node_image_snapshot_id": "nodeImageSnapshotId",
    "capacity_reservation_group_id": "capacityReservationGroupId",
    "priority": "priority",
    "zones": "zones",
}


def check(seen: Seen) -> Iterator[Inconsistency]:
    """One cluster, of one kind, and pools that fit it."""
    made = seen.settings.cluster is not None or seen.is_wrong("cluster")
    if made and not seen.in_azure:
        yield Inconsistency(("existingCluster",), None, "cannot stand beside aks-infiniband:cluster: keep one of them")
    elif not made and seen.in_azure:
        yield Inconsistency(
            ("cluster",),
            None,
            'is missing: give at least kubernetesVersion, such as {kubernetesVersion: "1.35"}; '
            "or name a cluster that is there under aks-infiniband:existingCluster",
        )
    elif made:
        yield from _made(seen)
    else:
        yield from _there(seen)


def _made(seen: Seen) -> Iterator[Inconsistency]:
    if seen.settings.location is None and not seen.is_wrong("location"):
        yield Inconsistency(("location",), None, "is missing; it must name an Azure region, such as southcentralus")
    for pool in seen.pools:
        if pool.given.node_selector:
            yield Inconsistency(
                pool.path("nodeSelector"),
                pool.given.node_selector,
                "is for pools of an existing cluster; the nodes of this one are told by their agent pool: leave it out",
            )


def _there(seen: Seen) -> Iterator[Inconsistency]:
    if seen.settings.location is not None:
        yield Inconsistency(
            ("location",),
            seen.settings.location,
            "is Azure's, and an existing cluster has no Azure resource: remove it",
        )
    for pool in seen.pools:
        yield from _pool(seen, pool)
    yield from _selectors(seen)


def _pool(seen: Seen, pool: SeenPool) -> Iterator[Inconsistency]:
    given = pool.given
    if not pool.infiniband:
        reason = "must be true in an existing cluster: its pools without InfiniBand are not listed"
        yield Inconsistency(pool.path("infiniband"), False, reason)
    if not given.node_selector and pool.sound("nodeSelector"):
        reason = (
            "is missing; in an existing cluster it must give the labels that the pool's nodes, and no others, carry"
        )
        yield Inconsistency(pool.path("nodeSelector"), None, reason)
    for name, key in _AZURE_ONLY.items():
        if name in given.model_fields_set and pool.sound(key):
            reason = "is for pools that are made in Azure, and this one is in an existing cluster: leave it out"
            yield Inconsistency(pool.path(key), given.model_dump(mode="json", by_alias=True)[key], reason)
    yield from _kept_off(seen, pool)


def _kept_off(seen: Seen, pool: SeenPool) -> Iterator[Inconsistency]:
    """Nodes that somebody else labels, and that the GPU Operator of another pool would take for its own."""
    owned = any(other.gpu_driver in {"operator", "aks"} for other in seen.pools)
    selector = pool.given.node_selector or {}
    owner, size = pool.gpu_driver, pool.size
    if not owned or owner is None or size is None or selector.get(resolve.GPU_OPERATOR_OFF) == "false":
        return
    if resolve.keeps_gpu_operator_off(owner, size, pool.given.vm_size):
        yield Inconsistency(
            pool.path("nodeSelector"),
            selector,
            f'must hold {resolve.GPU_OPERATOR_OFF}: "false", and the nodes must carry it: the GPU Operator of '
            "the other pools would install its parts on these GPUs too",
        )


def _selectors(seen: Seen) -> Iterator[Inconsistency]:
    for one, other in combinations(seen.pools, 2):
        first, second = one.given.node_selector, other.given.node_selector
        if first and second and not _apart(first, second):
            yield Inconsistency(
                other.path("nodeSelector"),
                second,
                f"must not match the nodes of pool {one.name}, {first}: two pools never share a fabric; give a label "
                "that both have another value",
            )


def _apart(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether no node can carry both: a label has one value."""
    return any(key in other and other[key] != value for key, value in one.items())
