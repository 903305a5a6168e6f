"""The two kinds of node pools in an AKS cluster: with InfiniBand and without, and how a cluster's are made together."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

import pulumi
from pulumi_azure_native import containerservice

from aks_infiniband.azure import fabric
from aks_infiniband.azure.agent_pool import NodePoolArgs, make_agent_pool, owner_labels, ready
from aks_infiniband.azure.machines import Machines, OrdinaryPool
from aks_infiniband.facts.bounds import Nodes
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import GpuDriver, MachineSize
from aks_infiniband.facts.pool import PLACEMENT_GROUP_LIMIT, Pool, agent_pool_label

SPOT: Final = "kubernetes.azure.com/scalesetpriority"
"""Label and taint of a spot pool's nodes. AKS adds both itself; given, they do not differ at the next refresh (AKS,
"Add a spot node pool").
"""
_ANY_PRICE: Final = -1.0
"""Spot machines may cost up to the ordinary price. So Azure evicts them for capacity only, never for the price (the
same page).
"""


@dataclass(frozen=True, kw_only=True)
class InfinibandNodePoolArgs(NodePoolArgs):
    """The arguments of an InfinibandNodePool: nodes of one zone and one placement group, the limits of a fabric."""

    pool: Pool
    """The pool. Its machines carry AKS's label of an agent pool, whatever else selects nodes."""
    machines: Machines = Machines()  # noqa: RUF009  frozen
    """Properties of its machines that are requested from Azure."""
    begin: Nodes | None = None
    """Nodes with which an autoscaled pool begins. Default: the pool's count."""
    placement_group_limit: int = PLACEMENT_GROUP_LIMIT
    """The most machines that the subscription may have in one placement group: 100, and up to 300 if Azure has raised
    it by a support request."""

    def __post_init__(self) -> None:
        """Raises ValueError for a pool that could not be one fabric, or whose drivers could not run."""
        super().__post_init__()
        pool, machines, limit = self.pool, self.machines, self.placement_group_limit
        most = machines.autoscale.max_count if machines.autoscale else pool.node_count
        reservation = machines.capacity_reservation_group_id
        broken = (
            ("placement_group_limit", limit, fabric.placement_group_limit(limit)),
            ("node_count", pool.node_count, fabric.nodes(pool.node_count, limit)),
            ("autoscale.max_count", most, fabric.nodes(most, limit)),
            (
                "capacity_reservation_group_id",
                reservation,
                fabric.reservation(reservation, pool.size.name, infiniband=True),
            ),
            ("zones", list(machines.zones), fabric.zones(machines.zones)),
            ("gpu_driver", pool.gpu_driver, fabric.gpu_driver(pool.gpu_driver, pool.size)),
        )
        for key, value, reason in broken:
            if reason:
                raise ValueError(f"pool {pool.name}: {key} is {value}; {reason}")


class InfinibandNodePool(pulumi.ComponentResource):
    """An AgentPool whose machines share one InfiniBand fabric, with exactly one owner of the GPU driver."""

    ready: pulumi.Output[pulumi.Resource]
    """For depends_on of what needs the nodes: known once Azure says Succeeded."""
    node_selector: Mapping[str, str]
    """The label that the pool's nodes, and no others, carry."""

    def __init__(self, name: str, *, args: InfinibandNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:InfinibandNodePool", name, None, opts)
        pool = args.pool
        made = make_agent_pool(
            name,
            pool,
            args,
            machines=args.machines,
            count=pool.node_count if args.begin is None else args.begin,
            parent=self,
            opts=opts,
            **of_infiniband(pool, args.machines),
        )
        self.node_selector = agent_pool_label(pool.name)
        self.ready = ready(made, pool.name, gpu_driver(pool.size, pool.gpu_driver))
        self.register_outputs({"nodeSelector": self.node_selector})


def of_infiniband(pool: Pool, machines: Machines) -> dict[str, Any]:
    """The further arguments of an AgentPool with InfiniBand."""
    driver = gpu_driver(pool.size, pool.gpu_driver)
    return {
        "vm_size": pool.size.name,
        "gpu_profile": driver and containerservice.GPUProfileArgs(driver=driver),
        "node_labels": {**machines.labels, **owner_labels(pool.gpu_driver, pool.size, pool.size.name)} or None,
        # Upgrades make room instead of surging: a spare machine of these sizes is seldom within quota.
        "upgrade_settings": containerservice.AgentPoolUpgradeSettingsArgs(max_surge="0", max_unavailable="1"),
    }


def gpu_driver(size: MachineSize, owner: GpuDriver) -> containerservice.GPUDriver | None:
    """The value that makes AKS install the GPUs' driver or not; None for machines without GPUs.

    Two owners of the driver break a node (Azure/aks-rdma-infiniband, "GPU drivers"): AKS installs it only if it is its
    owner.
    """
    if size.accelerator is None:
        return None
    return containerservice.GPUDriver.INSTALL if owner == "aks" else containerservice.GPUDriver.NONE


@dataclass(frozen=True, kw_only=True)
class OrdinaryNodePoolArgs(NodePoolArgs):
    """The arguments of an OrdinaryNodePool."""

    pool: OrdinaryPool
    """The pool, with all properties of its machines that are requested from Azure."""

    def __post_init__(self) -> None:
        """Raises ValueError for a size with InfiniBand, whose pool is a fabric."""
        super().__post_init__()
        if reason := fabric.ordinary_size(self.pool.vm_size, SIZES):
            raise ValueError(f"pool {self.pool.name}: vm_size is {self.pool.vm_size}; {reason}")


class OrdinaryNodePool(pulumi.ComponentResource):
    """An AgentPool without InfiniBand. Nothing of ours runs on it: this program makes it, and others use it."""

    ready: pulumi.Output[pulumi.Resource]
    """For depends_on of what needs the nodes: known once Azure says Succeeded."""
    node_selector: Mapping[str, str]
    """The label that the pool's nodes, and no others, carry."""

    def __init__(self, name: str, *, args: OrdinaryNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:OrdinaryNodePool", name, None, opts)
        pool = args.pool
        made = make_agent_pool(
            name,
            pool,
            args,
            machines=pool,
            count=pool.count,
            parent=self,
            opts=opts,
            **of_ordinary(pool),
        )
        self.node_selector = agent_pool_label(pool.name)
        self.ready = ready(made, pool.name, None)
        self.register_outputs({"nodeSelector": self.node_selector})


def of_ordinary(pool: OrdinaryPool) -> dict[str, Any]:
    """The further arguments of an AgentPool without InfiniBand. A machine with GPUs keeps the driver that AKS gives it,
    and the GPU Operator off.
    """
    labels = {**pool.labels, **owner_labels("none", None, pool.vm_size)}
    if pool.priority == "Regular":
        return {"vm_size": pool.vm_size, "node_labels": labels or None}
    return {
        "vm_size": pool.vm_size,
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

    makers: by name, the function that makes a pool with the options it is given. operations: parallel: all at once, and
    the program waits out Azure's conflicts; serial: each after the one before is Succeeded, for subscriptions in which
    Azure takes no two at a time. Removed pools then go one at a time, too.
    opts: options of every pool.
    """
    made: dict[str, NodePool] = {}
    before: list[pulumi.Input[pulumi.Resource]] = []
    for name, make in makers.items():
        made[name] = make(pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=list(before))))
        if operations == "serial":
            before = [made[name].ready]
    return made
