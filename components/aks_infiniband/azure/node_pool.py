"""The two kinds of node pools in an AKS cluster: with InfiniBand and without, and how a cluster's are made together."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar, get_args

import pulumi
from pulumi_azure_native import containerservice

from aks_infiniband.azure.agent_pool import NodePoolArgs, make_agent_pool, owner_labels, ready
from aks_infiniband.azure.arguments import OrdinaryPool
from aks_infiniband.facts.catalog.machine import GpuDriver, MachineSize, OsSku
from aks_infiniband.facts.pool import LARGEST_PLACEMENT_GROUP, PLACEMENT_GROUP_LIMIT, Pool, agent_pool_label

SPOT: Final = "kubernetes.azure.com/scalesetpriority"
"""Label and taint of a spot pool's nodes. AKS adds both itself; given, they are no difference at the next refresh
(AKS, "Add a spot node pool")."""
_ANY_PRICE: Final = -1.0
"""Spot machines may cost up to the ordinary price. So Azure evicts them for capacity only, never for the price (the
same page).
"""


@dataclass(frozen=True, kw_only=True)
class InfinibandNodePoolArgs(NodePoolArgs):
    """What an InfinibandNodePool takes: nodes of one zone and one placement group, the limits of a fabric."""

    pool: Pool
    """The pool. Its machines carry AKS's label of an agent pool, whatever else selects nodes."""
    placement_group_limit: int = PLACEMENT_GROUP_LIMIT
    """The most machines that the subscription may have in one placement group: 100, and up to 300 where Azure has
    raised it by a support request."""

    def __post_init__(self) -> None:
        """Raises ValueError where the pool could not be one fabric, or its drivers could not run."""
        name, machines = self.pool.name, self.machines
        bounds = machines.autoscale
        limit = self.placement_group_limit
        if not PLACEMENT_GROUP_LIMIT <= limit <= LARGEST_PLACEMENT_GROUP:
            allowed = f"{PLACEMENT_GROUP_LIMIT} to {LARGEST_PLACEMENT_GROUP}"
            raise ValueError(f"pool {name}: placement_group_limit is {limit}; Azure grants {allowed}")
        if not 1 <= self.pool.node_count <= limit or (bounds and bounds.max_count > limit):
            raise ValueError(f"pool {name}: 1 to {limit} nodes; one placement group takes no more")
        if machines.capacity_reservation_group_id is not None:
            raise ValueError(
                f"pool {name}: capacity_reservation_group_id is given; Azure reserves no capacity for pools with "
                "InfiniBand, which are one placement group"
            )
        if len(machines.zones) > 1:
            raise ValueError(f"pool {name}: at most one zone; a fabric does not span zones")
        size, owner = self.pool.size, self.pool.gpu_driver
        if owner not in size.gpu_driver_owners:
            owners = " or ".join(size.gpu_driver_owners)
            raise ValueError(f"pool {name}: gpu_driver is {owner}; of {size.name} it must be {owners}")
        if machines.os_sku not in get_args(OsSku):
            known = ", ".join(get_args(OsSku))
            raise ValueError(f"pool {name}: os_sku is {machines.os_sku}; the NIC drivers and AKS's API take {known}")


class InfinibandNodePool(pulumi.ComponentResource):
    """An AgentPool whose machines share one InfiniBand fabric, with exactly one owner of the GPU driver."""

    ready: pulumi.Output[pulumi.Resource]
    """For depends_on of what needs the nodes: known once Azure says Succeeded."""
    node_selector: Mapping[str, str]
    """The label that the pool's nodes, and no others, carry."""

    def __init__(self, name: str, *, args: InfinibandNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:InfinibandNodePool", name, None, opts)
        pool, labels = args.pool, args.machines.labels
        driver = gpu_driver(pool.size, pool.gpu_driver)
        made = make_agent_pool(
            name,
            pool,
            args,
            parent=self,
            opts=opts,
            vm_size=pool.size.name,
            gpu_profile=driver and containerservice.GPUProfileArgs(driver=driver),
            node_labels={**labels, **owner_labels(pool.gpu_driver, pool.size, pool.size.name)} or None,
            # Upgrades make room instead of surging: a spare machine of these sizes is seldom within quota.
            upgrade_settings=containerservice.AgentPoolUpgradeSettingsArgs(max_surge="0", max_unavailable="1"),
        )
        self.node_selector = agent_pool_label(pool.name)
        self.ready = ready(made, pool.name, driver)
        self.register_outputs({"nodeSelector": self.node_selector})


def gpu_driver(size: MachineSize, owner: GpuDriver) -> containerservice.GPUDriver | None:
    """Whether AKS is to install the GPUs' driver; None for machines without GPUs.

    Two owners of the driver break a node (Azure/aks-rdma-infiniband, "GPU drivers"): AKS installs it only where it is
    its owner.
    """
    if size.accelerator is None:
        return None
    return containerservice.GPUDriver.INSTALL if owner == "aks" else containerservice.GPUDriver.NONE


@dataclass(frozen=True, kw_only=True)
class OrdinaryNodePoolArgs(NodePoolArgs):
    """What an OrdinaryNodePool takes."""

    pool: OrdinaryPool
    """The pool."""


class OrdinaryNodePool(pulumi.ComponentResource):
    """An AgentPool without InfiniBand. Nothing of ours runs on it: this program makes it, and others use it."""

    ready: pulumi.Output[pulumi.Resource]
    """For depends_on of what needs the nodes: known once Azure says Succeeded."""
    node_selector: Mapping[str, str]
    """The label that the pool's nodes, and no others, carry."""

    def __init__(self, name: str, *, args: OrdinaryNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:OrdinaryNodePool", name, None, opts)
        pool = args.pool
        made = make_agent_pool(name, pool, args, parent=self, opts=opts, vm_size=pool.vm_size, **_differences(args))
        self.node_selector = agent_pool_label(pool.name)
        self.ready = ready(made, pool.name, None)
        self.register_outputs({"nodeSelector": self.node_selector})


def _differences(args: OrdinaryNodePoolArgs) -> dict[str, Any]:
    """Labels, taints and priority. A machine with GPUs keeps the driver that AKS gives it, and the GPU Operator off."""
    pool = args.pool
    labels = {**args.machines.labels, **owner_labels("none", None, pool.vm_size)}
    if pool.priority == "Regular":
        return {"node_labels": labels or None}
    return {
        "node_labels": {**labels, SPOT: "spot"},
        "node_taints": [*pool.taints, f"{SPOT}=spot:NoSchedule"],
        "scale_set_priority": containerservice.ScaleSetPriority.SPOT,
        "scale_set_eviction_policy": containerservice.ScaleSetEvictionPolicy.DELETE,
        "spot_max_price": _ANY_PRICE,
    }


NodePool = TypeVar("NodePool", bound=InfinibandNodePool | OrdinaryNodePool)


def make_pools(
    makers: Mapping[str, Callable[[pulumi.ResourceOptions], NodePool]],
    *,
    operations: Literal["parallel", "serial"],
    opts: pulumi.ResourceOptions,
) -> dict[str, NodePool]:
    """Make every pool, in the order given.

    makers: by name, what makes a pool with the options it is given.
    operations: parallel: all at once, and Azure's conflicts are waited out; serial: each after the one before is
        Succeeded, for subscriptions where Azure takes no two at a time. Removed pools then go one at a time, too.
    opts: options of every pool.
    """
    made: dict[str, NodePool] = {}
    before: list[pulumi.Input[pulumi.Resource]] = []
    for name, make in makers.items():
        made[name] = make(pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=list(before))))
        if operations == "serial":
            before = [made[name].ready]
    return made
