"""The team's own cluster: nothing in here knows of InfiniBand."""

import base64
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import authorization, containerservice, managedidentity, network, resources

_NETWORK_CONTRIBUTOR = "4d97b98b-1d4f-4787-a291-c67834d212e7"


@dataclass(frozen=True)
class Cluster:
    """What the rest of the program needs of it."""

    group: resources.ResourceGroup
    subnet: network.Subnet
    cluster: containerservice.ManagedCluster
    kubeconfig: pulumi.Output[str]


def make_cluster(location: str, *, kubernetes_version: str) -> Cluster:
    """A cluster with one system pool, in a network of its own."""
    group = resources.ResourceGroup("hpc", location=location)
    virtual_network = network.VirtualNetwork(
        "hpc",
        resource_group_name=group.name,
        location=location,
        address_space=network.AddressSpaceArgs(address_prefixes=["10.40.0.0/16"]),
    )
    subnet = network.Subnet(
        "nodes",
        resource_group_name=group.name,
        virtual_network_name=virtual_network.name,
        address_prefix="10.40.0.0/20",
    )
    identity = managedidentity.UserAssignedIdentity("hpc", resource_group_name=group.name, location=location)
    permission = authorization.RoleAssignment(
        "hpc-subnet",
        principal_id=identity.principal_id,
        principal_type=authorization.PrincipalType.SERVICE_PRINCIPAL,
        role_definition_id=pulumi.Output.format(
            "/subscriptions/{0}/providers/Microsoft.Authorization/roleDefinitions/{1}",
            authorization.get_client_config_output().subscription_id,
            _NETWORK_CONTRIBUTOR,
        ),
        scope=subnet.id,
    )
    cluster = containerservice.ManagedCluster(
        "hpc",
        resource_group_name=group.name,
        location=location,
        kubernetes_version=kubernetes_version,
        sku=containerservice.ManagedClusterSKUArgs(name="Base", tier=containerservice.ManagedClusterSKUTier.PREMIUM),
        support_plan=containerservice.KubernetesSupportPlan.AKS_LONG_TERM_SUPPORT,
        dns_prefix="hpc",
        identity=containerservice.ManagedClusterIdentityArgs(
            type=containerservice.ResourceIdentityType.USER_ASSIGNED, user_assigned_identities=[identity.id]
        ),
        agent_pool_profiles=[
            containerservice.ManagedClusterAgentPoolProfileArgs(
                name="system",
                mode=containerservice.AgentPoolMode.SYSTEM,
                type=containerservice.AgentPoolType.VIRTUAL_MACHINE_SCALE_SETS,
                os_type=containerservice.OSType.LINUX,
                vm_size="Standard_D8s_v5",
                count=2,
                vnet_subnet_id=subnet.id,
            )
        ],
        network_profile=containerservice.ContainerServiceNetworkProfileArgs(
            network_plugin=containerservice.NetworkPlugin.AZURE,
            network_plugin_mode=containerservice.NetworkPluginMode.OVERLAY,
        ),
        # Azure shows every pool among these; the InfiniBand pool is a resource of its own.
        opts=pulumi.ResourceOptions(depends_on=[permission], ignore_changes=["agentPoolProfiles"]),
    )
    credentials = containerservice.list_managed_cluster_user_credentials_output(
        resource_group_name=group.name,
        resource_name=pulumi.Output.all(cluster.id, cluster.name).apply(lambda made: made[1]),
    )
    kubeconfig = credentials.apply(lambda found: base64.b64decode(found.kubeconfigs[0].value).decode())
    return Cluster(group=group, subnet=subnet, cluster=cluster, kubeconfig=pulumi.Output.secret(kubeconfig))
