"""The common parts of all node pools, with InfiniBand or without: each is an AgentPool resource outside its cluster's
profile.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import pulumi
from pulumi_azure_native import containerservice

from aks_infiniband import diagnosis
from aks_infiniband.azure.arguments import Tags
from aks_infiniband.azure.asking import ask
from aks_infiniband.azure.machines import Machines, OrdinaryPool, sent
from aks_infiniband.facts import rules
from aks_infiniband.facts.bounds import keep_rules
from aks_infiniband.facts.catalog.machine import GPU_OPERATOR_OFF, GpuDriver, MachineSize, keeps_gpu_operator_off
from aks_infiniband.facts.kubernetes import UBUNTU_IS_2404_SINCE, minor_of
from aks_infiniband.facts.pool import Pool
from aks_infiniband.resources.options import child_options

# An hour: Azure keeps a pool without capacity in Creating for long, and a driver image can be slow.
_TIMEOUTS: Final = pulumi.CustomTimeouts(create="60m", update="60m", delete="30m")

_NOT_THERE: Final = re.compile(r"Status=404|RESPONSE 404|NotFound")
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
    "maxPods",
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
    """Azure left the pool in another state, or with another owner of the GPU driver, than the program requested."""


@dataclass(frozen=True, kw_only=True)
class NodePoolArgs:
    """The cluster and the subnets of every node pool, and the tags of its machines."""

    resource_group_name: pulumi.Input[Annotated[str, rules.resource_group_name]]
    """Resource group of the cluster."""
    cluster_name: pulumi.Input[Annotated[str, rules.resource_name]]
    """Name of the managed cluster."""
    subnet_id: pulumi.Input[Annotated[str, rules.subnet_id]] | None = None
    """The nodes' subnet. Leave it out if the cluster is in the network that AKS made for it."""
    pod_subnet_id: pulumi.Input[Annotated[str, rules.subnet_id]] | None = None
    """The pods' subnet. Leave it out with the overlay."""
    kubernetes_version: pulumi.Input[Annotated[str, rules.version]] | None = None
    """Version of the nodes. Default: the cluster's when the pool is made."""
    tags: Tags = field(default_factory=dict)
    """Tags of the pool, its scale set and its machines."""

    def __post_init__(self) -> None:
        """Raises ValueError for what Azure does not take."""
        keep_rules(self)


def owner_labels(owner: GpuDriver, size: MachineSize | None, vm_size: str) -> dict[str, str]:
    """The label that keeps the GPU Operator off nodes whose GPUs it must not touch; none elsewhere.

    The pool has it even without a GPU Operator, because one may come later. size: None without InfiniBand.
    """
    return {GPU_OPERATOR_OFF: "false"} if keeps_gpu_operator_off(owner, size, vm_size) else {}


def make_agent_pool(
    name: str,
    pool: Pool | OrdinaryPool,
    args: NodePoolArgs,
    *,
    machines: Machines,
    count: int,
    parent: pulumi.Resource,
    opts: pulumi.ResourceOptions | None,
    **more: Any,
) -> containerservice.AgentPool:
    """An AgentPool resource, never an inline profile of the cluster: all inline profiles go through one request.

    A replacement deletes before it creates: the name is the pool's, and quota for large machines rarely covers two
    pools at once.

    machines: the properties of its machines. count: nodes that the pool has; if it is autoscaled, those with which it
    begins. parent, opts: the component, and its options. more: further arguments of the AgentPool, and node_labels and
    node_taints that replace the pool's values.
    """
    number = count if machines.autoscale is None else _followed_count(pool.name, count, args, parent)
    arguments = {**arguments_of(pool, args, machines), "count": number, **more}
    return containerservice.AgentPool(
        name,
        agent_pool_name=pool.name,
        resource_group_name=args.resource_group_name,
        resource_name_=args.cluster_name,
        opts=child_options(
            parent,
            opts,
            replace_on_changes=list(REPLACED_BY),
            delete_before_replace=True,
            custom_timeouts=_TIMEOUTS,
            hooks=diagnosis.azure_operation(before_update=[new_system_hook(name)]),
        ),
        **arguments,
    )


def new_system_hook(name: str) -> pulumi.ResourceHook:
    """Warns, at preview too, if another Kubernetes version changes the meaning of the OS SKU Ubuntu.

    name: unique in the program.
    """

    def tell(args: pulumi.ResourceHookArgs) -> None:
        old, new = args.old_inputs or {}, args.new_inputs or {}
        before, after = old.get("orchestratorVersion"), new.get("orchestratorVersion")
        if new.get("osSKU") != containerservice.OSSKU.UBUNTU.value:
            return
        # A version is unknown at preview if it is an output of another resource.
        if not (isinstance(before, str) and isinstance(after, str)):
            return
        if minor_of(before) < UBUNTU_IS_2404_SINCE <= minor_of(after):
            pulumi.log.warn(
                f"{args.name}: with Kubernetes {after} the OS SKU Ubuntu is 24.04 with containerd 2; with {before} it "
                "is 22.04 with containerd 1.7. AKS drains and reimages the nodes, one after the other, and the drivers "
                "are installed again on another kernel."
            )

    return pulumi.ResourceHook(f"{name}-new-system", tell, pulumi.ResourceHookOptions(on_dry_run=True))


def arguments_of(pool: Pool | OrdinaryPool, args: NodePoolArgs, machines: Machines) -> dict[str, Any]:
    """The arguments of an AgentPool that pools of both kinds have, without the count."""
    bounds, asked = machines.autoscale, sent(machines)
    return {
        "mode": containerservice.AgentPoolMode.USER,
        "type": containerservice.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
        "enable_auto_scaling": bounds is not None,
        "min_count": bounds and bounds.min_count,
        "max_count": bounds and bounds.max_count,
        "os_type": containerservice.OSType.LINUX,
        "vnet_subnet_id": args.subnet_id,
        "pod_subnet_id": args.pod_subnet_id,
        "tags": dict(args.tags) or None,
        "node_taints": list(pool.taints) or None,
        **asked,
        "orchestrator_version": asked["orchestrator_version"] or args.kubernetes_version,
    }


def _followed_count(name: str, begin: int, args: NodePoolArgs, parent: pulumi.Resource) -> pulumi.Output[int]:
    """The pool's count in Azure; if the pool does not exist yet, the count to begin with.

    Azure wants a count for every pool. While the autoscaler is on, it refuses any count except the current one ("Cannot
    manually scale", AKS issue 1248; pulumi-azure issue 780). ignore_changes would not help: it continues to send the
    first count, and Azure would refuse every other change of a pool that has been scaled. So the program follows the
    autoscaler.

    The output fails with the provider's error if Azure does not answer.
    """

    async def current(place: Sequence[str]) -> int:
        where = {"resourceGroupName": place[0], "resourceName": place[1], "agentPoolName": name}
        try:
            answer = await ask("containerservice:getAgentPool", parent, **where)
        except Exception as error:
            if not _NOT_THERE.search(str(error)):
                raise
            return begin
        return int(answer.get("count") or begin)

    return pulumi.Output.all(args.resource_group_name, args.cluster_name).apply(current)


def ready(
    pool: containerservice.AgentPool, name: str, driver: containerservice.GPUDriver | None
) -> pulumi.Output[pulumi.Resource]:
    """The pool. The output is known once Azure reports Succeeded; otherwise it fails with NodePoolError.

    Azure can report a creation as done although the pool is Failed, so its state is read.

    driver: whether AKS installs the GPU driver; None if it does not matter.
    """
    there: pulumi.Resource = pool

    def checked(made: Sequence[Any]) -> pulumi.Resource:
        state, installed = made[1:]
        if pulumi.runtime.is_dry_run():
            return there
        if state != "Succeeded":
            raise NodePoolError(
                f"pool {name} is {state} in Azure; it must be Succeeded. Its activity log says why; `az aks nodepool "
                "show` shows the state. Once the cause is gone, run `pulumi refresh` and `pulumi up`."
            )
        if driver is not None and installed not in {None, driver.value}:
            raise NodePoolError(
                f"pool {name} has gpuProfile.driver {installed} in Azure; it must be {driver.value}, or its GPUs "
                "have two drivers or none. Another program made the pool so, or Azure has overruled it: delete it, "
                "and run `pulumi up`."
            )
        return there

    installed = pool.gpu_profile.apply(lambda profile: profile and profile.driver)
    return pulumi.Output.all(pool.id, pool.provisioning_state, installed).apply(checked)
