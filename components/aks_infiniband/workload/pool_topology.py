"""The component: what one pool is to a scheduler."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband.facts.pool import Pool
from aks_infiniband.resources.metadata import labels
from aks_infiniband.resources.options import child_options
from aks_infiniband.workload import scheduling

_DELETE: Final = "2m"
"""Limit for the deletion of a flavor: Kueue keeps it while a ClusterQueue names it, and without one it goes at once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolTopologyArgs:
    """The arguments of a PoolTopology."""

    pool: Pool
    """The pool, which is one fabric."""
    scheduler: scheduling.Scheduler = "kueue"
    """The scheduler of jobs; the cluster must have its definitions already."""
    levels: Sequence[str] = ()
    """For Kueue: labels of nodes for what is nearer than the fabric, such as a switch or a rack, the widest first. A
    node that lacks one gets no jobs from Kueue. Volcano finds such labels itself."""

    def __post_init__(self) -> None:
        """Raises ValueError for levels that the scheduler does not take."""
        for level in self.levels:
            reason = scheduling.unfit(level, self.levels, self.scheduler, self.pool.node_selector)
            if reason:
                raise ValueError(f"level {level} {reason}")


class PoolTopology(pulumi.ComponentResource):
    """A pool as Kueue's topology-aware scheduling or Volcano reads it.

    Both leave out a node that is cordoned, and one with a taint that a job does not tolerate: so a node in quarantine
    gets no new jobs, and comes back when it is uncordoned.
    """

    flavor: str | None
    """Name of the ResourceFlavor, for ClusterQueues; None with Volcano."""

    def __init__(self, name: str, *, args: PoolTopologyArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:PoolTopology", name, None, opts)
        self._name, self._args, self._opts = name, args, opts
        pool, named = args.pool, scheduling.flavor_name(args.pool.name)
        if args.scheduler == "volcano":
            self.flavor = None
            self._custom("hyper-node", "HyperNode", named, scheduling.hyper_node_spec(pool))
        else:
            self.flavor = named
            levels = scheduling.topology_spec(pool, args.levels)
            topology = self._custom("topology", "Topology", scheduling.topology_name(pool, args.levels), levels)
            self._custom(
                "flavor",
                "ResourceFlavor",
                named,
                scheduling.flavor_spec(pool, args.levels),
                depends_on=[topology],
                # Kueue does not allow a change of these, and ClusterQueues know the flavor by its name.
                replace_on_changes=["spec.nodeLabels", "spec.topologyName"],
                delete_before_replace=True,
                custom_timeouts=pulumi.CustomTimeouts(delete=_DELETE),
            )
        self.register_outputs({})

    def _custom(
        self, part: str, kind: str, named: str, spec: Mapping[str, Any], **options: Any
    ) -> kubernetes.apiextensions.CustomResource:
        described: Any = {"name": named, "labels": labels(scheduling.flavor_name(self._args.pool.name), "scheduling")}
        return kubernetes.apiextensions.CustomResource(
            f"{self._name}-{part}",
            api_version=scheduling.GROUPS[self._args.scheduler],
            kind=kind,
            metadata=described,
            spec=dict(spec),
            opts=child_options(self, self._opts, **options),
        )
