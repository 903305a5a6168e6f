"""The part of an AKS cluster that a stack may upgrade: all of a cluster that it made, else the node pools that it has
taken over.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aks_infiniband.stack.azure_cluster import AzureClusterArgs
from aks_infiniband.stack.stack import Stack

from aks_infiniband_cli.azure.cluster import ClusterThere, PoolThere
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.machine_by_machine.upgrade.plan import is_version


@dataclass(frozen=True, kw_only=True, slots=True)
class Owned:
    """The cluster of a stack in Azure. pools: of the stack file, in its order; whole: the cluster, too."""

    resource_group: str
    cluster: str
    pools: Sequence[str]
    whole: bool

    def among(self, pools: Mapping[str, PoolThere]) -> dict[str, PoolThere]:
        """The pools of a cluster that the stack may change."""
        names = pools if self.whole else [name for name in self.pools if name in pools]
        return {name: pools[name] for name in names}

    def require_control_plane(self, there: ClusterThere, wanted: str) -> None:
        """Raises CommandError unless the control plane, which others keep, has the version."""
        if not is_version(there.version, wanted):
            place = f"--resource-group {self.resource_group} --name {self.cluster}"
            raise CommandError(
                f"the control plane of cluster {self.cluster} has {there.version}, and others keep the cluster: its "
                f"owner upgrades the control plane first: az aks upgrade {place} --control-plane-only "
                f"--kubernetes-version {wanted}"
            )


def owned(stack: Stack, file: Path) -> Owned:
    """The cluster of a stack in Azure, and its pools. Raises CommandError if it has none. file: the stack's."""
    if isinstance(made := stack.cluster, AzureClusterArgs):
        return Owned(
            resource_group=made.cluster.resource_group_name,
            cluster=made.cluster.cluster_name,
            pools=[pool.name for pool, _ in made.pools],
            whole=True,
        )
    if (taken := stack.adopted) is not None:
        return Owned(
            resource_group=taken.resource_group,
            cluster=taken.cluster_name,
            pools=[asked.name for _, asked, _ in taken.pools],
            whole=False,
        )
    raise CommandError(
        f"{file} makes no cluster, and has taken over no node pool: upgrade it with the tool that made it, then run "
        "`validate`"
    )


def refuse_strange(wished: Sequence[str], known: Iterable[str]) -> None:
    """Raises CommandError for a pool that is not known."""
    there = list(known)
    if strange := [name for name in wished if name not in there]:
        raise CommandError(f"unknown pool {', '.join(strange)}; the pools are {', '.join(there)}")
