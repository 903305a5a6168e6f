"""The system pool: the one inline profile of the cluster, and what is said of changes that are not made to it."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pulumi
from pulumi_azure_native import containerservice

from aks_infiniband.azure.arguments import SystemPool

NAME: Final = "system"


def profile(
    pool: SystemPool, subnet_id: pulumi.Input[str], pod_subnet_id: pulumi.Input[str] | None = None
) -> containerservice.ManagedClusterAgentPoolProfileArgs:
    """The pool as it is made with its cluster.

    subnet_id: the nodes'.
    pod_subnet_id: the pods'; None with the overlay.

    It has no taint CriticalAddonsOnly: both operators run here, and their charts do not tolerate it.
    """
    return containerservice.ManagedClusterAgentPoolProfileArgs(
        name=NAME,
        mode=containerservice.AgentPoolMode.SYSTEM,
        type=containerservice.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
        vm_size=pool.vm_size,
        count=pool.count,
        availability_zones=list(pool.zones) or None,
        os_type=containerservice.OSType.LINUX,
        os_sku=containerservice.OSSKU.UBUNTU,
        vnet_subnet_id=subnet_id,
        pod_subnet_id=pod_subnet_id,
    )


def warn_of_changes(cluster: pulumi.Resource, wanted: SystemPool, profiles: Sequence[Any]) -> None:
    """Warn where the settings ask for another system pool than there is, at preview too: none of it will be done.

    cluster: the resource that the warning stands at.
    profiles: the cluster's agent pool profiles as Azure reports them; all its pools are among them.
    """
    for found in profiles:
        if found.name == NAME and (ignored := "; ".join(_differences(wanted, found))):
            pulumi.log.warn(
                f"the system pool is not changed by this program: {ignored}. Its count is changed with "
                f"`az aks nodepool scale --name {NAME}`; another size or zone takes a second system pool "
                "(`az aks nodepool add --mode System`). `pulumi refresh` shows what is there by now.",
                resource=cluster,
            )


def _differences(wanted: SystemPool, found: Any) -> Iterator[str]:
    # Azure does not always give a size's name back in the case in which it took it.
    if wanted.vm_size.lower() != found.vm_size.lower():
        yield f"systemPool.vmSize is {wanted.vm_size}, and in Azure {found.vm_size}"
    if wanted.count != found.count:
        yield f"systemPool.count is {wanted.count}, and in Azure {found.count}"
    zones = sorted(found.availability_zones or ())
    if sorted(wanted.zones) != zones:
        yield f"systemPool.zones is {sorted(wanted.zones)}, and in Azure {zones}"
