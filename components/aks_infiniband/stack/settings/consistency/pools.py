"""Pools: names, taints, node counts, and which keys mean something for which kind of pool."""

from collections.abc import Iterator
from typing import Final

from aks_infiniband.stack.settings.consistency.seen import Inconsistency, Seen, SeenPool

_INFINIBAND_ONLY: Final = {
    "mode": "mode",
    "nic_driver": "nicDriver",
    "gpu_driver": "gpuDriver",
    "ipoib_devices": "ipoibDevices",
    "nccl_topology": "ncclTopology",
}

_SPOT_TAINT: Final = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"


def check(seen: Seen) -> Iterator[Inconsistency]:
    """Each pool in itself, and against the others."""
    yield from _names(seen)
    if seen.pools and not any(pool.infiniband for pool in seen.pools):
        yield Inconsistency(("pools",), None, "must hold at least one pool with InfiniBand")
    for pool in seen.pools:
        yield from _taints(pool)
        if seen.in_azure:
            yield from _reserved_taints(pool)
        yield from _bounds(pool)
        if pool.infiniband:
            yield from _lonely(seen, pool)
        else:
            yield from _ordinary(pool)


def _names(seen: Seen) -> Iterator[Inconsistency]:
    first: dict[str, int] = {}
    for pool in seen.pools:
        name = pool.given.name
        if name == "system" and seen.in_azure:
            yield Inconsistency(pool.path("name"), name, "is the name of the cluster's system pool")
        if name is not None and first.setdefault(name, pool.index) != pool.index:
            yield Inconsistency(pool.path("name"), name, f"must be unique: pools[{first[name]}] has it too")


def _taints(pool: SeenPool) -> Iterator[Inconsistency]:
    """Kubernetes takes one taint for each key and effect (core/v1, NodeSpec.taints)."""
    first: dict[tuple[str, str], str] = {}
    for place, taint in enumerate(pool.given.taints or ()):
        key_value, _, effect = taint.rpartition(":")
        identity = (key_value.partition("=")[0], effect)
        if identity in first:
            reason = f"must not have key and effect in common with {first[identity]!r}"
            yield Inconsistency(pool.path("taints", place), taint, reason)
        first.setdefault(identity, taint)


def _reserved_taints(pool: SeenPool) -> Iterator[Inconsistency]:
    """AKS takes none with its own prefix but the one of Spot pools (Azure/karpenter-provider-azure, issue 1830)."""
    for place, taint in enumerate(pool.given.taints or ()):
        if taint.startswith("kubernetes.azure.com/") and taint != _SPOT_TAINT:
            reason = "must not be in kubernetes.azure.com: AKS keeps that prefix for its own taints"
            yield Inconsistency(pool.path("taints", place), taint, reason)


def _bounds(pool: SeenPool) -> Iterator[Inconsistency]:
    bounds, count = pool.given.autoscale, pool.count
    if bounds is None or bounds.min_count is None or bounds.max_count is None:
        return
    if bounds.min_count > bounds.max_count:
        reason = f"must be maxCount, {bounds.max_count}, or less"
        yield Inconsistency(pool.path("autoscale", "minCount"), bounds.min_count, reason)
    elif count is not None and not bounds.min_count <= count <= bounds.max_count:
        reason = f"must be within autoscale's bounds, {bounds.min_count} to {bounds.max_count}"
        yield Inconsistency(pool.path("count"), count, reason)


def _lonely(seen: Seen, pool: SeenPool) -> Iterator[Inconsistency]:
    validation, autoscale = seen.settings.validation, pool.given.autoscale
    if validation is None or validation.mode in {None, "off"}:
        return
    across = "because a pool is validated across its nodes; or set aks-infiniband:validation mode to off"
    if pool.count is not None and pool.count < 2:
        yield Inconsistency(pool.path("count"), pool.count, f"must be 2 or more, {across}")
    elif autoscale is not None and autoscale.min_count is not None and autoscale.min_count < 2:
        yield Inconsistency(pool.path("autoscale", "minCount"), autoscale.min_count, f"must be 2 or more, {across}")


def _ordinary(pool: SeenPool) -> Iterator[Inconsistency]:
    for name, key in _INFINIBAND_ONLY.items():
        if name in pool.given.model_fields_set and pool.sound(key):
            yield Inconsistency(
                pool.path(key),
                pool.given.model_dump(mode="json", by_alias=True)[key],
                "says nothing for a pool with infiniband: false: leave it out",
            )
