"""The node pools of an AKS cluster of others that the stack has taken over: changed in place, never made or deleted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from aks_infiniband.azure.machines import OrdinaryPool
from aks_infiniband.azure.node_pool import (
    InfinibandNodePool,
    InfinibandNodePoolArgs,
    OrdinaryNodePool,
    OrdinaryNodePoolArgs,
    make_pools,
)
from aks_infiniband.azure.read_back import left_alone
from aks_infiniband.facts.pool import LARGEST_PLACEMENT_GROUP, Pool
from aks_infiniband.resources.options import child_options
from aks_infiniband.stack.settings.cluster import AdoptedPool
from aks_infiniband.terminal import page

AGENT_POOL: Final = "azure-native:containerservice:AgentPool"


class NotImportedError(pulumi.RunError):
    """A pool that was to be taken over is not in the stack's state; the text says how it gets there."""


@dataclass(frozen=True, kw_only=True)
class AdoptedPoolsArgs:
    """The arguments of an AdoptedPools."""

    resource_group: str
    """The cluster's resource group."""
    cluster_name: str
    """In Azure."""
    pools: Sequence[tuple[Pool | OrdinaryPool, OrdinaryPool, AdoptedPool]]
    """With InfiniBand the facts of the pool, then any pool as it is requested from Azure, and what else Azure has."""

    def arguments_of(self, name: str) -> InfinibandNodePoolArgs | OrdinaryNodePoolArgs:
        """The arguments of one pool's component. Raises KeyError for a pool that is not taken over."""
        by_name = {asked.name: (pool, asked, kept) for pool, asked, kept in self.pools}
        pool, asked, kept = by_name[name]
        place: dict[str, Any] = {
            "resource_group_name": self.resource_group,
            "cluster_name": self.cluster_name,
            "subnet_id": kept.subnet_id,
            "pod_subnet_id": kept.pod_subnet_id,
            "tags": kept.tags,
        }
        if isinstance(pool, OrdinaryPool):
            return OrdinaryNodePoolArgs(pool=pool, **place)
        return InfinibandNodePoolArgs(
            pool=pool, machines=asked, begin=asked.count, placement_group_limit=LARGEST_PLACEMENT_GROUP, **place
        )


class AdoptedPools(pulumi.ComponentResource):
    """The pools, each protected. One that `pulumi import` has not read is refused, at preview too."""

    pools_ready: Mapping[str, pulumi.Output[pulumi.Resource]]
    """By pool, for depends_on of what needs its machines."""

    def __init__(self, name: str, *, args: AdoptedPoolsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        keeping = pulumi.ResourceOptions(transformations=[_kept(f"{name}-adopted", args)])
        super().__init__(
            "aks-infiniband:index:AdoptedPools",
            name,
            None,
            pulumi.ResourceOptions.merge(opts, keeping) if opts else keeping,
        )
        pools = make_pools(
            {asked.name: _maker(f"{name}-{asked.name}", args.arguments_of(asked.name)) for _, asked, _ in args.pools},
            operations="parallel",
            opts=child_options(self, opts),
        )
        self.pools_ready = {pool: resource.ready for pool, resource in pools.items()}
        self.register_outputs({})


def _maker(
    name: str, args: InfinibandNodePoolArgs | OrdinaryNodePoolArgs
) -> Callable[[pulumi.ResourceOptions], InfinibandNodePool | OrdinaryNodePool]:
    if isinstance(args, OrdinaryNodePoolArgs):
        return lambda opts: OrdinaryNodePool(name, args=args, opts=opts)
    return lambda opts: InfinibandNodePool(name, args=args, opts=opts)


def _kept(name: str, args: AdoptedPoolsArgs) -> pulumi.ResourceTransformation:
    """A transformation that keeps the pools from being deleted and from being created. name: of the hook, unique in the
    program.
    """

    def refuse(hook: pulumi.ResourceHookArgs) -> None:
        pool = (hook.new_inputs or {}).get("agentPoolName")
        raise NotImportedError(
            f"node pool {pool} of cluster {args.cluster_name} is not in the state of this stack, and no pool is made "
            "in a cluster that others keep. If the pool is there: pulumi import --file, with the file that "
            f"`adopt` has written; else remove {pool} from existingCluster.aks.nodePools "
            f"({page('existing-cluster')})"
        )

    hook = pulumi.ResourceHook(name, refuse, pulumi.ResourceHookOptions(on_dry_run=True))

    def keep(made: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
        if made.type_ != AGENT_POOL:
            return None
        kept = pulumi.ResourceOptions(
            protect=True,
            hooks=pulumi.ResourceHookBinding(before_create=[hook]),
            ignore_changes=left_alone(args.arguments_of(str(made.props["agent_pool_name"]))),
        )
        return pulumi.ResourceTransformationResult(made.props, pulumi.ResourceOptions.merge(made.opts, kept))

    return keep
