"""What AKS is asked for in a cluster's profiles: network, start, API server, directory. Pure functions of settings."""

from pulumi_azure_native import containerservice

from aks_infiniband.stack.settings import AccessSettings, ApiServerSettings, NetworkSettings


def network(settings: NetworkSettings) -> containerservice.ContainerServiceNetworkProfileArgs:
    """Azure CNI: the overlay, or a subnet for the pods, which then needs no range of its own."""
    overlay = settings.pod_subnet_id is None
    profile = containerservice.ContainerServiceNetworkProfileArgs(
        network_plugin=containerservice.NetworkPlugin.AZURE,
        network_plugin_mode=containerservice.NetworkPluginMode.OVERLAY if overlay else None,
        pod_cidr=str(settings.pod_cidr),
        service_cidr=str(settings.service_cidr),
        # AKS's own habit: the tenth address of the services' range.
        dns_service_ip=str(settings.service_cidr[10]),
        load_balancer_sku=containerservice.LoadBalancerSku.STANDARD,
        outbound_type=settings.outbound_type,
    )
    if not overlay:
        # Only here: in the constructor the SDK puts a range of its own in None's place.
        profile.pod_cidr = None
    return profile


def bootstrap(settings: NetworkSettings) -> containerservice.ManagedClusterBootstrapProfileArgs | None:
    """Without a way out the nodes start from a cache, a registry that AKS makes (AKS, "Network isolated clusters")."""
    if settings.outbound_type != "none":
        return None
    return containerservice.ManagedClusterBootstrapProfileArgs(artifact_source=containerservice.ArtifactSource.CACHE)


def api_server(settings: ApiServerSettings) -> containerservice.ManagedClusterAPIServerAccessProfileArgs:
    """Whole in any case: what is missing Azure would leave as it was, and a first private would look like an addition.

    A private API server has no public address, and so no ranges.
    """
    return containerservice.ManagedClusterAPIServerAccessProfileArgs(
        enable_private_cluster=settings.private,
        authorized_ip_ranges=None if settings.private else [str(each) for each in settings.authorized_ip_ranges],
    )


def directory(settings: AccessSettings) -> containerservice.ManagedClusterAADProfileArgs | None:
    """Microsoft Entra ID, managed by AKS, with Azure RBAC deciding what each may do in the cluster."""
    if not settings.entra_id:
        return None
    return containerservice.ManagedClusterAADProfileArgs(
        managed=True, enable_azure_rbac=True, admin_group_object_ids=list(settings.admin_group_object_ids)
    )
