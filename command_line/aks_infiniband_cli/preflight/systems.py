"""Drivers and GPUs that are unproven on the systems and sizes of a stack's pools. Pure functions."""

from collections.abc import Iterator

from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.systems import unproven, unproven_size
from aks_infiniband.stack.azure_cluster import AzureClusterArgs
from aks_infiniband.stack.stack import Stack

from aks_infiniband_cli.preflight.checks import Line


def systems(stack: Stack) -> Iterator[Line]:
    """A line for each driver that its maker does not publish for a pool's OS SKU, and for each flexible size."""
    for pool, asked in stack.cluster.pools if isinstance(stack.cluster, AzureClusterArgs) else ():
        check = f"system of pool {pool.name}"
        if not isinstance(pool, Pool):
            if reason := unproven_size(pool.vm_size):
                found = f"GPUs of {pool.vm_size} are unproven: {reason}"
                yield Line(check=check, state="not checked", found=found, remedy="start it there, or a full size")
        else:
            for each in unproven(asked.os_sku, pool):
                found = f"{each.driver} on {asked.os_sku} is unproven: {each.because}"
                yield Line(check=check, state="not checked", found=found, remedy=each.instead)
