"""What mode and drivers a pool has, as far as the operators' policies tell: those with which the library finds the
least lacking. It judges as `pulumi up` does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import GpuDriver, MachineSize, Mode, NicDriver
from aks_infiniband.facts.pool import Pool
from aks_infiniband.operators.existing_gpu_operator import unsuitable
from aks_infiniband.operators.existing_network_operator import Judge
from aks_infiniband.operators.nic_policy import nic_policy_specs

from aks_infiniband_cli.adopt.found import Found

_BY_PLUGIN: Final[tuple[Mode, ...]] = ("rdma-shared", "sriov")
"""The modes in which an operator of others can serve a pool by a device plugin (stack/settings/consistency)."""
_PLUGINS: Final = ("rdmaSharedDevicePlugin", "sriovDevicePlugin")


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit:
    """What fits a pool."""

    mode: Mode
    nic_driver: NicDriver
    gpu_driver: GpuDriver
    auto_gpu_direct: bool
    """Whether gpuDirect is auto; else it is the default."""

    def keys(self, size: MachineSize) -> dict[str, Any]:
        """The keys of the stack file's pool, but for mode and NIC driver. What is the default is left out."""
        found: dict[str, Any] = {}
        if self.gpu_driver != size.default_gpu_driver:
            found["gpuDriver"] = self.gpu_driver
        if self.auto_gpu_direct:
            found["gpuDirect"] = "auto"
        return found


def fit(keys: Mapping[str, Any], found: Found, owners: Sequence[GpuDriver]) -> Fit:
    """The best fit. keys: of a stack file's pool. owners: who can own the driver of its GPUs, the likeliest first."""
    size = SIZES[keys["vmSize"]]
    shared = {
        "name": keys["name"],
        "size": size,
        "node_count": max(int(keys["count"]), 1),
        "taints": tuple(keys.get("taints") or ()),
        "node_selector": keys.get("nodeSelector") or {},
    }
    drivers: list[NicDriver] = sorted(["doca-ofed", "inbox"], key=lambda name: name != size.default_nic_driver)
    mode, nic_driver = min(
        product(_modes(found), drivers if found.policies else drivers[:1]),
        key=lambda each: _lacking(Pool(**shared, mode=each[0], nic_driver=each[1], gpu_driver="none"), found),
    )
    ways: tuple[dict[str, Any], ...] = ({}, {"gpu_direct": "auto"}) if size.accelerator else ({},)
    gpu_driver, way = min(
        product(owners, ways),
        key=lambda each: _unsuitable(
            Pool(**shared, mode=mode, nic_driver=nic_driver, gpu_driver=each[0], **each[1]), found
        ),
    )
    return Fit(mode=mode, nic_driver=nic_driver, gpu_driver=gpu_driver, auto_gpu_direct=bool(way))


def _modes(found: Found) -> tuple[Mode, ...]:
    """If policies install drivers and no device plugin, pods are privileged."""
    plugins = any((policy.get("spec") or {}).get(plugin) for policy in found.policies for plugin in _PLUGINS)
    return _BY_PLUGIN if plugins or not found.policies else ("driver-only",)


def _lacking(pool: Pool, found: Found) -> int:
    judge = Judge(policies=found.policies, nodes=found.nodes, specs=nic_policy_specs([pool]))
    return len(list(judge.lacking()))


def _unsuitable(pool: Pool, found: Found) -> int:
    policy = found.gpu_policy
    if policy is None or pool.gpu_driver == "none":
        return 0
    return len(list(unsuitable(policy, [pool], found.nodes)))
