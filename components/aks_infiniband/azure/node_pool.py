"""A pool of InfiniBand machines in an AKS cluster."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import containerservice

from aks_infiniband.azure.agent_pool import (
    REPLACED_BY,
    NodePoolArgs,
    NodePoolError,
    make_agent_pool,
    node_selector,
    owner_labels,
    ready,
)
from aks_infiniband.facts.catalog import GpuDriver, MachineSize
from aks_infiniband.stack.settings.base import LARGEST_POOL

__all__ = [
    "REPLACED_BY",
    "InfinibandNodePool",
    "InfinibandNodePoolArgs",
    "NodePoolArgs",
    "NodePoolError",
    "node_selector",
]


@dataclass(frozen=True, kw_only=True)
class InfinibandNodePoolArgs(NodePoolArgs):
    """What an InfinibandNodePool takes: at most 100 nodes and one zone, which is what one InfiniBand fabric takes."""

    size: MachineSize
    """The machine size."""
    gpu_driver: GpuDriver
    """Who owns the GPUs' driver: operator, aks, or none. It sets the pool's gpuProfile, and never changes: a change
    replaces the pool."""

    def __post_init__(self) -> None:
        """Raises ValueError where the pool could not be one fabric, or has no GPUs that a driver could be for."""
        if not 1 <= self.count <= LARGEST_POOL or (self.autoscale and self.autoscale.max_count > LARGEST_POOL):
            raise ValueError(f"pool {self.pool_name}: 1 to {LARGEST_POOL} nodes; one placement group takes no more")
        if len(self.zones) > 1:
            raise ValueError(f"pool {self.pool_name}: at most one zone; a fabric does not span zones")
        gpus = self.size.accelerator
        if self.gpu_driver != "none" and (gpus is None or gpus.software != "gpu-operator"):
            raise ValueError(
                f"pool {self.pool_name}: gpu_driver is {self.gpu_driver}; {self.size.name} has no GPUs that the GPU "
                "Operator serves, so it must be none"
            )
        if not self.os_sku.startswith("Ubuntu"):
            raise ValueError(f"pool {self.pool_name}: os_sku is {self.os_sku}; the NIC drivers need Ubuntu")


class InfinibandNodePool(pulumi.ComponentResource):
    """An AgentPool whose machines share one InfiniBand fabric, with exactly one owner of the GPU driver."""

    ready: pulumi.Output[pulumi.Resource]
    """For depends_on of what needs the nodes: known once Azure says Succeeded."""
    node_selector: Mapping[str, str]
    """The label that the pool's nodes, and no others, carry."""

    def __init__(self, name: str, *, args: InfinibandNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:InfinibandNodePool", name, None, opts)
        driver = gpu_driver(args.size, args.gpu_driver)
        pool = make_agent_pool(
            name,
            args,
            parent=self,
            opts=opts,
            vm_size=args.size.name,
            gpu_profile=driver and containerservice.GPUProfileArgs(driver=driver),
            node_labels={**args.labels, **owner_labels(args.gpu_driver, args.size, args.size.name)} or None,
            # Upgrades make room instead of surging: a spare machine of these sizes is seldom within quota.
            upgrade_settings=containerservice.AgentPoolUpgradeSettingsArgs(max_surge="0", max_unavailable="1"),
        )
        self.node_selector = node_selector(args.pool_name)
        self.ready = ready(pool, args.pool_name, driver)
        self.register_outputs({"nodeSelector": self.node_selector})


def gpu_driver(size: MachineSize, owner: GpuDriver) -> containerservice.GPUDriver | None:
    """Whether AKS is to install the GPUs' driver; None for machines without GPUs.

    Two owners of the driver break a node (Azure/aks-rdma-infiniband, "GPU drivers"): AKS installs it only where it is
    its owner.
    """
    if size.accelerator is None:
        return None
    return containerservice.GPUDriver.INSTALL if owner == "aks" else containerservice.GPUDriver.NONE
