"""Drivers that are unproven on the systems of a stack's pools. Pure functions."""

from collections.abc import Iterator

from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.systems import unproven
from aks_infiniband.stack.azure_cluster import AzureClusterArgs
from aks_infiniband.stack.stack import Stack

from aks_infiniband_cli.preflight.checks import Line


def systems(stack: Stack) -> Iterator[Line]:
    """A line for each driver of a pool that its maker does not publish for the pool's OS SKU."""
    for pool, asked in stack.cluster.pools if isinstance(stack.cluster, AzureClusterArgs) else ():
        if isinstance(pool, Pool):
            for each in unproven(asked.os_sku, pool):
                found = f"{each.driver} on {asked.os_sku} is unproven: {each.because}"
                check = f"system of pool {pool.name}"
                yield Line(check=check, state="not checked", found=found, remedy=each.instead)
