"""The profiles of a cluster in AKS's API: network, start, API server, directory, and the inline system pool."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pulumi
from pulumi_azure_native import containerservice

from aks_infiniband.azure.arguments import Access, ApiServer, ClusterNetwork, SystemPool, Tags

SYSTEM_POOL: Final = "system"


def network(wanted: ClusterNetwork) -> containerservice.ContainerServiceNetworkProfileArgs:
    """Azure CNI: the overlay, or a subnet for the pods, which then needs no separate range."""
    overlay = wanted.pod_subnet_id is None
    profile = containerservice.ContainerServiceNetworkProfileArgs(
        network_plugin=containerservice.NetworkPlugin.AZURE,
        network_plugin_mode=containerservice.NetworkPluginMode.OVERLAY if overlay else None,
        pod_cidr=str(wanted.pod_cidr),
        service_cidr=str(wanted.service_cidr),
        # AKS's own habit: the tenth address of the services' range.
        dns_service_ip=str(wanted.service_cidr[10]),
        load_balancer_sku=containerservice.LoadBalancerSku.STANDARD,
        outbound_type=wanted.outbound_type,
    )
    if not overlay:
        # The range is set only here, because the SDK's constructor puts a default in place of None.
        profile.pod_cidr = None
    return profile


def bootstrap(wanted: ClusterNetwork) -> containerservice.ManagedClusterBootstrapProfileArgs | None:
    """Without a way out the nodes start from a cache, a registry that AKS makes (AKS, "Network isolated clusters")."""
    if wanted.outbound_type != "none":
        return None
    return containerservice.ManagedClusterBootstrapProfileArgs(artifact_source=containerservice.ArtifactSource.CACHE)


def api_server(wanted: ApiServer) -> containerservice.ManagedClusterAPIServerAccessProfileArgs:
    """Every field, always. Azure leaves unchanged what is left out, and a first `private` would look like an addition.

    A private API server does not have a public address, and so it has zero ranges.
    """
    return containerservice.ManagedClusterAPIServerAccessProfileArgs(
        enable_private_cluster=wanted.private,
        authorized_ip_ranges=None if wanted.private else [str(ranges) for ranges in wanted.authorized_ip_ranges],
    )


def directory(wanted: Access) -> containerservice.ManagedClusterAADProfileArgs | None:
    """Microsoft Entra ID, managed by AKS, with Azure RBAC deciding what each may do in the cluster."""
    if not wanted.entra_id:
        return None
    return containerservice.ManagedClusterAADProfileArgs(
        managed=True, enable_azure_rbac=True, admin_group_object_ids=list(wanted.admin_group_object_ids)
    )


def system_pool(
    pool: SystemPool, tags: Tags, subnet_id: pulumi.Input[str], pod_subnet_id: pulumi.Input[str] | None = None
) -> containerservice.ManagedClusterAgentPoolProfileArgs:
    """The pool as it is made with its cluster.

    subnet_id: the nodes'.
    pod_subnet_id: the pods'; None with the overlay.

    The taint CriticalAddonsOnly is absent: both operators run here, and their charts do not tolerate it.
    """
    return containerservice.ManagedClusterAgentPoolProfileArgs(
        name=SYSTEM_POOL,
        mode=containerservice.AgentPoolMode.SYSTEM,
        type=containerservice.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
        vm_size=pool.vm_size,
        count=pool.count,
        availability_zones=list(pool.zones) or None,
        os_type=containerservice.OSType.LINUX,
        os_sku=containerservice.OSSKU.UBUNTU,
        tags=dict(tags) or None,
        vnet_subnet_id=subnet_id,
        pod_subnet_id=pod_subnet_id,
    )


def warn_of_changes(cluster: pulumi.Resource, wanted: SystemPool, tags: Tags, profiles: Sequence[Any]) -> None:
    """Warn if the settings describe another system pool than there is, at preview too, because nothing of it will be
    done.

    cluster: the resource that the warning stands at.
    profiles: the cluster's agent pool profiles as Azure reports them; all its pools are among them.
    """
    for profile in profiles:
        if profile.name == SYSTEM_POOL and (ignored := "; ".join(_differences(wanted, tags, profile))):
            pulumi.log.warn(
                f"the system pool is not changed by this program: {ignored}. Its count is changed with "
                f"`az aks nodepool scale --name {SYSTEM_POOL}`, its tags with `az aks nodepool update --tags`; "
                "another size or zone takes a second system pool "
                "(`az aks nodepool add --mode System`). `pulumi refresh` shows what is there by now.",
                resource=cluster,
            )


def _differences(wanted: SystemPool, tags: Tags, profile: Any) -> Iterator[str]:
    # Azure does not always give a size's name back in the case in which it took it.
    if wanted.vm_size.lower() != profile.vm_size.lower():
        yield f"systemPool.vmSize is {wanted.vm_size}, and in Azure {profile.vm_size}"
    if wanted.count != profile.count:
        yield f"systemPool.count is {wanted.count}, and in Azure {profile.count}"
    zones = sorted(profile.availability_zones or ())
    if sorted(wanted.zones) != zones:
        yield f"systemPool.zones is {sorted(wanted.zones)}, and in Azure {zones}"
    if tags and dict(tags) != (profile.tags or {}):
        yield f"tags are {dict(tags)}, and in Azure {profile.tags or {}}"
