"""Mode and drivers of a pool, which the library's readers read from its nodes and the operators' policies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import GpuDriver, MachineSize, Mode, NicDriver
from aks_infiniband.facts.modes import DEFAULT_MODE
from aks_infiniband.facts.pool import Pool
from aks_infiniband.operators.existing_gpu_operator import unsuitable
from aks_infiniband.operators.offered import Way, ways

from aks_infiniband_cli.adopt.found import Found, NodesOfPool

BY_OTHERS: Final[tuple[Mode, ...]] = ("rdma-shared", "sriov", "driver-only")
"""The modes in which a Network Operator of others can serve a pool (stack/settings/consistency)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit:
    """The keys that fit a pool."""

    mode: Mode
    nic_driver: NicDriver
    gpu_driver: GpuDriver
    auto_gpu_direct: bool
    """True if gpuDirect is auto; else it is the default."""

    def keys(self, size: MachineSize) -> dict[str, Any]:
        """The keys of the stack file's pool, except mode and NIC driver. Defaults are left out."""
        keys: dict[str, Any] = {}
        if self.gpu_driver != size.default_gpu_driver:
            keys["gpuDriver"] = self.gpu_driver
        if self.auto_gpu_direct:
            keys["gpuDirect"] = "auto"
        return keys


def ways_of(pool: NodesOfPool, found: Found) -> list[Way]:
    """Every way in which the pool's pods have its HCAs."""
    return ways(pool.nodes, SIZES[pool.vm_size], found.seen)


def fit(pool: NodesOfPool, taints: Sequence[str], found: Found, owners: Sequence[GpuDriver]) -> Fit:
    """The best fit. owners: who can own the driver of its GPUs, the likeliest first."""
    size = SIZES[pool.vm_size]
    served = [way for way in ways_of(pool, found) if way.mode in BY_OTHERS]
    mode: Mode = served[0].mode if served else DEFAULT_MODE
    nic_driver = served[0].nic_driver if served else size.default_nic_driver
    shared: Mapping[str, Any] = {
        "name": pool.name,
        "size": size,
        "node_count": len(pool.nodes),
        "taints": tuple(taints),
        "node_selector": pool.selector,
        "mode": mode,
        "nic_driver": nic_driver,
    }
    directs: tuple[dict[str, Any], ...] = ({}, {"gpu_direct": "auto"}) if size.accelerator else ({},)
    gpu_driver, direct = min(
        product(owners, directs),
        key=lambda each: _unsuitable(Pool(**shared, gpu_driver=each[0], **each[1]), found),
    )
    return Fit(mode=mode, nic_driver=nic_driver, gpu_driver=gpu_driver, auto_gpu_direct=bool(direct))


def _unsuitable(pool: Pool, found: Found) -> int:
    policy = found.gpu_policy
    if policy is None or pool.gpu_driver == "none":
        return 0
    return len(list(unsuitable(policy, [pool], found.nodes)))
