"""Checks of node pools that a stack has taken over in an AKS cluster of others. Pure functions."""

from collections.abc import Sequence

from aks_infiniband.terminal import page

from aks_infiniband_cli.azure.answers import Deployed, Permission
from aks_infiniband_cli.preflight import rights
from aks_infiniband_cli.preflight.checks import Line
from aks_infiniband_cli.preflight.roles import permitted


def cluster(name: str, pools: Sequence[str], there: Deployed | None) -> Line:
    """The line that says if the cluster and its pools are there. pools: names of those that were taken over."""
    if there is None:
        remedy = "existingCluster.aks must name a cluster of this subscription"
        return Line(check="cluster", state="fail", found=f"cluster {name} is not there", remedy=remedy)
    told = ", ".join(pools)
    if missing := [pool for pool in pools if pool not in there.pools]:
        found = f"cluster {name} does not have {', '.join(missing)}; its pools are {', '.join(there.pools)}"
        remedy = "the stack makes no pool in a cluster of others: remove the pool from existingCluster.aks.nodePools"
        return Line(check="cluster", state="fail", found=found, remedy=remedy)
    found = f"cluster {name} runs Kubernetes {there.version}; the stack makes nothing there, and changes {told}"
    return Line(check="cluster", state="pass", found=found)


def rights_on(pool: str, granted: Sequence[Permission]) -> list[Line]:
    """The line that says if the login may change a pool. pool: in words; granted: what it may do with the pool."""
    name = pool.partition(" ")[0]
    if permitted(granted, rights.CHANGE_POOLS):
        return [Line(check=f"rights on {name}", state="pass", found=f"you may change pool {pool}")]
    remedy = f"an owner of the cluster can assign a role with {rights.CHANGE_POOLS} ({page('existing-cluster')})"
    found = f"your roles do not permit {rights.CHANGE_POOLS} on pool {pool}"
    return [Line(check=f"rights on {name}", state="fail", found=found, remedy=remedy)]
