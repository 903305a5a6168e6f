"""The rules of a pool that is one InfiniBand fabric, each once. A stack file reports every broken rule at its key, and
the component ends with the first. A rule answers with the reason, after "KEY is VALUE; ", or with None.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final

from aks_infiniband.facts.azure_names import NO_SIZE, is_size
from aks_infiniband.facts.catalog.machine import GpuDriver, MachineSize
from aks_infiniband.facts.pool import LARGEST_PLACEMENT_GROUP, NOT_RESERVED, PLACEMENT_GROUP_LIMIT

_NOT_FROM_AKS: Final = {
    "amd": "AKS lacks a driver for AMD's GPUs",
    "nvidia": "AKS's own install is newer than what this release has seen (Azure/aks-gpu pull request 170)",
}
"""By vendor, why AKS cannot own the driver if it cannot."""


_RDMA: Final = re.compile(r"Standard_[NH][A-Z]*\d+(-\d+)?[a-z]*r[a-z]*(_|$)", re.IGNORECASE)
"""A size of the families N and H with the feature r, RDMA (Azure, "Azure VM sizes naming conventions")."""


def placement_group_limit(limit: int) -> str | None:
    """The limit that Azure grants to a subscription."""
    if PLACEMENT_GROUP_LIMIT <= limit <= LARGEST_PLACEMENT_GROUP:
        return None
    return f"must be from {PLACEMENT_GROUP_LIMIT} to {LARGEST_PLACEMENT_GROUP}: Azure grants no more"


def nodes(count: int, limit: int) -> str | None:
    """One placement group, and so one fabric, takes so many machines. limit: what the subscription was granted."""
    if count <= limit:
        return None
    return (
        f"must be {limit} or fewer with InfiniBand: one placement group, and so one fabric, takes no more. Split the "
        "machines into several pools, each on a separate fabric; or have Azure raise the subscription's limit by a "
        "support request, and set aks-infiniband:cluster placementGroupLimit to it"
    )


def ordinary_size(name: str, sizes: Collection[str]) -> str | None:
    """A pool without InfiniBand has a size without. sizes: those that are known to have it."""
    if name in sizes:
        return "has InfiniBand: make it a pool with InfiniBand, or choose a size without"
    if _RDMA.match(name):
        return (
            "has InfiniBand, by the r in its name, and is not known here: describe it under aks-infiniband:sizes and "
            "make it a pool with InfiniBand, or choose a size without"
        )
    return None if is_size(name) else NO_SIZE


def zones(wanted: Sequence[str]) -> str | None:
    """A fabric is in one zone."""
    if len(set(wanted)) <= 1:
        return None
    return "must be one zone at most with InfiniBand: a fabric does not span zones; give each zone its own pool"


def reservation(group: str | None, vm_size: str, *, infiniband: bool) -> str | None:
    """Azure reserves no capacity for placement groups, nor for sizes that stand in them."""
    if group is None or not (infiniband or NOT_RESERVED.match(vm_size)):
        return None
    return (
        f"must be left out: Azure reserves no capacity for {vm_size}, nor for pools with InfiniBand, which are one "
        "placement group. Request quota in a region that has the machines, make the pool early, and keep it"
    )


def gpu_driver(owner: GpuDriver, size: MachineSize) -> str | None:
    """Possible owners of the driver of the size's GPUs."""
    if owner in size.gpu_driver_owners:
        return None
    if size.accelerator is None:
        return f"must be none: {size.name} does not have GPUs; leave it out"
    reason = f"must be {' or '.join(size.gpu_driver_owners)} for {size.accelerator.model}"
    return f"{reason}: {_NOT_FROM_AKS[size.accelerator.vendor]}" if owner == "aks" else reason
