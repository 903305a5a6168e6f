"""What every node pool has in common, with InfiniBand or without: an AgentPool of its own beside its cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi
from pulumi_azure_native import containerservice

from aks_infiniband import diagnosis
from aks_infiniband.azure.current_count import current_count
from aks_infiniband.facts.catalog import GpuDriver, MachineSize
from aks_infiniband.resources.options import child_options
from aks_infiniband.stack.settings.pools import AutoscaleSettings
from aks_infiniband.stack.settings.resolve import GPU_OPERATOR_OFF, keeps_gpu_operator_off

# An hour: Azure keeps a pool for which it has no capacity in Creating for long, and a driver image can be slow.
_TIMEOUTS: Final = pulumi.CustomTimeouts(create="60m", update="60m", delete="30m")

REPLACED_BY: Final = (
    "vmSize",
    "gpuProfile",
    "osSKU",
    "osType",
    "osDiskType",
    "osDiskSizeGB",
    "availabilityZones",
    "vnetSubnetID",
    "podSubnetID",
    "capacityReservationGroupID",
    "scaleSetPriority",
    "scaleSetEvictionPolicy",
    "spotMaxPrice",
    "type",
)
"""Properties that Azure does not change in place; a change of one replaces the pool, and preview says so.

Source: what AKS's REST API takes at creation and `az aks nodepool update` cannot set. An OS SKU could be changed in
place, but means another kernel under the drivers: a new pool says so.
"""


class NodePoolError(pulumi.RunError):
    """Azure left the pool in another state, or with another owner of the GPU driver, than it was to have."""


@dataclass(frozen=True, kw_only=True)
class NodePoolArgs:
    """What every node pool takes."""

    pool_name: str
    """1 to 12 lower-case letters and digits, a letter first."""
    resource_group_name: pulumi.Input[str]
    """Resource group of the cluster."""
    cluster_name: pulumi.Input[str]
    """Name of the managed cluster."""
    count: int
    """Number of nodes; with autoscale where it begins."""
    subnet_id: pulumi.Input[str]
    """The nodes' subnet."""
    pod_subnet_id: pulumi.Input[str] | None = None
    """The pods' subnet; None with the overlay."""
    autoscale: AutoscaleSettings | None = None
    """Bounds of the cluster autoscaler; the count is then its business, and later updates follow it."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Further node labels. They live on the pool, so that nothing that touches a node loses them."""
    taints: Sequence[str] = ()
    """As key=value:Effect."""
    os_sku: str = "Ubuntu"
    """Ubuntu, Ubuntu2204 or Ubuntu2404. The SDK's enumeration ends at Ubuntu2204; AKS takes Ubuntu2404 from
    Kubernetes 1.32 on."""
    os_disk_size_gb: int | None = None
    """GB of the OS disk; None leaves it to Azure."""
    os_disk_type: str | None = None
    """Managed or Ephemeral; None leaves it to Azure."""
    node_image_snapshot_id: str | None = None
    """A node pool snapshot whose node image the nodes get; None means the newest. A change reimages the nodes, one
    after the other."""
    capacity_reservation_group_id: str | None = None
    """A capacity reservation group with room for the pool. The cluster's identity needs the role Contributor on it
    (AKS, "Use capacity reservation groups"): give the cluster an existing identity that has it."""
    zones: Sequence[str] = ()
    """Availability zones; none means wherever there is capacity."""
    kubernetes_version: pulumi.Input[str] | None = None
    """Version of the nodes; None means the cluster's at creation."""


def node_selector(pool_name: str) -> dict[str, str]:
    """The label that AKS puts on the nodes of a pool."""
    return {"kubernetes.azure.com/agentpool": pool_name}


def owner_labels(owner: GpuDriver, size: MachineSize | None, vm_size: str) -> dict[str, str]:
    """The label that keeps the GPU Operator off nodes whose GPUs are not its business; none elsewhere.

    It is on the pool whether there is a GPU Operator or not: one may come later. size: None without InfiniBand.
    """
    return {GPU_OPERATOR_OFF: "false"} if keeps_gpu_operator_off(owner, size, vm_size) else {}


def make_agent_pool(
    name: str,
    args: NodePoolArgs,
    *,
    parent: pulumi.Resource,
    opts: pulumi.ResourceOptions | None,
    **more: Any,
) -> containerservice.AgentPool:
    """An AgentPool of its own, never one of the cluster's inline profiles: those go all through one request.

    A replacement deletes before it creates: the name is the pool's, and quota for large machines rarely covers two
    pools at once.

    parent, opts: the component, and its options.
    more: further arguments of the AgentPool, and node_labels and node_taints in place of those of args.
    """
    arguments = {**_arguments(args, parent), **more}
    return containerservice.AgentPool(
        name,
        agent_pool_name=args.pool_name,
        resource_group_name=args.resource_group_name,
        resource_name_=args.cluster_name,
        opts=child_options(
            parent,
            opts,
            replace_on_changes=list(REPLACED_BY),
            delete_before_replace=True,
            custom_timeouts=_TIMEOUTS,
            hooks=diagnosis.azure_operation(),
        ),
        **arguments,
    )


def _arguments(args: NodePoolArgs, parent: pulumi.Resource) -> dict[str, Any]:
    bounds, snapshot = args.autoscale, args.node_image_snapshot_id
    return {
        "mode": containerservice.AgentPoolMode.USER,
        "type": containerservice.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
        "count": args.count if bounds is None else _followed_count(args, parent),
        "enable_auto_scaling": bounds is not None,
        "min_count": bounds and bounds.min_count,
        "max_count": bounds and bounds.max_count,
        "os_type": containerservice.OSType.LINUX,
        "os_sku": args.os_sku,
        "os_disk_size_gb": args.os_disk_size_gb,
        "os_disk_type": args.os_disk_type,
        "creation_data": snapshot and containerservice.CreationDataArgs(source_resource_id=snapshot),
        "capacity_reservation_group_id": args.capacity_reservation_group_id,
        "availability_zones": list(args.zones) or None,
        "vnet_subnet_id": args.subnet_id,
        "pod_subnet_id": args.pod_subnet_id,
        "node_labels": dict(args.labels) or None,
        "node_taints": list(args.taints) or None,
        "orchestrator_version": args.kubernetes_version,
    }


def _followed_count(args: NodePoolArgs, parent: pulumi.Resource) -> pulumi.Output[int]:
    place = pulumi.Output.all(args.resource_group_name, args.cluster_name)
    return place.apply(lambda found: current_count(found[0], found[1], args.pool_name, begin=args.count, parent=parent))


def ready(
    pool: containerservice.AgentPool, name: str, driver: containerservice.GPUDriver | None
) -> pulumi.Output[pulumi.Resource]:
    """The pool, once Azure says that it is as it was to be; Azure can end a creation Failed and have it count as done.

    driver: whether AKS was to install the GPU driver; None where it does not matter.

    Its output fails with NodePoolError.
    """
    there: pulumi.Resource = pool

    def checked(made: Sequence[Any]) -> pulumi.Resource:
        state, found = made[1:]
        if pulumi.runtime.is_dry_run():
            return there
        if state != "Succeeded":
            raise NodePoolError(
                f"pool {name} is {state} in Azure; it must be Succeeded. Its activity log says why; `az aks nodepool "
                "show` shows the state. Once the cause is gone, run `pulumi refresh` and `pulumi up`."
            )
        if driver is not None and found not in {None, driver.value}:
            raise NodePoolError(
                f"pool {name} has gpuProfile.driver {found} in Azure; it must be {driver.value}, or its GPUs "
                "have two drivers or none. Somebody else made the pool so, or Azure has overruled it: delete the pool, "
                "and run `pulumi up`."
            )
        return there

    found = pool.gpu_profile.apply(lambda profile: profile and profile.driver)
    return pulumi.Output.all(pool.id, pool.provisioning_state, found).apply(checked)
