"""What AKS is asked for in a cluster's profiles: network, start, API server, directory. Pure functions."""

from pulumi_azure_native import containerservice

from aks_infiniband.azure.arguments import Access, ApiServer, ClusterNetwork


def network(wanted: ClusterNetwork) -> containerservice.ContainerServiceNetworkProfileArgs:
    """Azure CNI: the overlay, or a subnet for the pods, which then needs no range of its own."""
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
        # Only here: in the constructor the SDK puts a range of its own in None's place.
        profile.pod_cidr = None
    return profile


def bootstrap(wanted: ClusterNetwork) -> containerservice.ManagedClusterBootstrapProfileArgs | None:
    """Without a way out the nodes start from a cache, a registry that AKS makes (AKS, "Network isolated clusters")."""
    if wanted.outbound_type != "none":
        return None
    return containerservice.ManagedClusterBootstrapProfileArgs(artifact_source=containerservice.ArtifactSource.CACHE)


def api_server(wanted: ApiServer) -> containerservice.ManagedClusterAPIServerAccessProfileArgs:
    """Every field, always: Azure keeps what is left out as it was, and a first `private` would look like an addition.

    A private API server has no public address, and so no ranges.
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
