"""A pool of InfiniBand machines in an AKS cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pulumi
from pulumi_azure_native import containerservice

from aks_infiniband import diagnosis
from aks_infiniband._options import child_options
from aks_infiniband.catalog import MachineSize

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
    "type",
)
"""Properties that Azure does not change in place; a change of one replaces the pool, and preview says so."""


class NodePoolError(pulumi.RunError):
    """Azure made the pool and left it in a state other than Succeeded."""


@dataclass(frozen=True, kw_only=True)
class InfinibandNodePoolArgs:
    """What an InfinibandNodePool takes."""

    pool_name: str
    """1 to 12 lower-case letters and digits, a letter first."""
    resource_group_name: pulumi.Input[str]
    """Resource group of the cluster."""
    cluster_name: pulumi.Input[str]
    """Name of the managed cluster."""
    size: MachineSize
    """The machine size."""
    count: int
    """Number of nodes, at most 100: one placement group."""
    subnet_id: pulumi.Input[str]
    """The nodes' subnet."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Further node labels. They live on the pool, so that nothing that touches a node loses them."""
    taints: Sequence[str] = ()
    """As key=value:Effect."""
    os_disk_size_gb: int | None = None
    """GB of the OS disk; None leaves it to Azure."""
    zones: Sequence[str] = ()
    """At most one availability zone."""
    kubernetes_version: pulumi.Input[str] | None = None
    """Version of the nodes; None means the cluster's at creation."""
    kubeconfig: pulumi.Input[str] | None = None
    """With it a failed creation is explained by what the cluster shows."""


class InfinibandNodePool(pulumi.ComponentResource):
    """An AgentPool of its own, never one of the cluster's inline profiles: those go all through one request.

    A replacement deletes before it creates: the name is the pool's, and quota for these machines rarely covers two
    pools at once.
    """

    ready: pulumi.Output[pulumi.Resource]
    """For depends_on of what needs the nodes: known once Azure says Succeeded."""
    node_selector: Mapping[str, str]
    """The label that the pool's nodes, and no others, carry."""

    def __init__(self, name: str, *, args: InfinibandNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:InfinibandNodePool", name, None, opts)
        pool = containerservice.AgentPool(
            name,
            agent_pool_name=args.pool_name,
            resource_group_name=args.resource_group_name,
            resource_name_=args.cluster_name,
            mode=containerservice.AgentPoolMode.USER,
            type=containerservice.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
            vm_size=args.size.name,
            count=args.count,
            os_type=containerservice.OSType.LINUX,
            # The only one for which there are DOCA driver images.
            os_sku=containerservice.OSSKU.UBUNTU,
            os_disk_size_gb=args.os_disk_size_gb,
            gpu_profile=_gpu_profile(args.size),
            availability_zones=list(args.zones) or None,
            vnet_subnet_id=args.subnet_id,
            node_labels=dict(args.labels) or None,
            node_taints=list(args.taints) or None,
            orchestrator_version=args.kubernetes_version,
            # Upgrades make room instead of surging: a spare machine of these sizes is seldom within quota.
            upgrade_settings=containerservice.AgentPoolUpgradeSettingsArgs(max_surge="0", max_unavailable="1"),
            opts=child_options(
                self,
                opts,
                replace_on_changes=list(REPLACED_BY),
                delete_before_replace=True,
                custom_timeouts=_TIMEOUTS,
                hooks=diagnosis.on_error(f"{name}-pool", waiting_for="agent-pool", kubeconfig=args.kubeconfig),
            ),
        )
        self.node_selector = node_selector(args.pool_name)
        self.ready = pulumi.Output.all(pool.id, pool.provisioning_state).apply(
            lambda made: _succeeded(pool, args.pool_name, made[1])
        )
        self.register_outputs({"nodeSelector": self.node_selector})


def node_selector(pool_name: str) -> dict[str, str]:
    """The label that AKS puts on the nodes of a pool."""
    return {"kubernetes.azure.com/agentpool": pool_name}


def _gpu_profile(size: MachineSize) -> containerservice.GPUProfileArgs | None:
    """The GPU Operator owns the driver; AKS installing one too would break the node."""
    if size.accelerator is None:
        return None
    return containerservice.GPUProfileArgs(driver=containerservice.GPUDriver.NONE)


def _succeeded(pool: pulumi.Resource, name: str, state: str | None) -> pulumi.Resource:
    """Azure can end a creation Failed and still have it recorded as done."""
    if state != "Succeeded" and not pulumi.runtime.is_dry_run():
        raise NodePoolError(
            f"pool {name} is {state} in Azure; it must be Succeeded. Its activity log says why; `az aks nodepool show` "
            "shows the state. Once the cause is gone, run `pulumi refresh` and `pulumi up`."
        )
    return pool
