"""An AKS cluster in a network of its own, with the system pool only."""

import base64
import uuid
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi
import yaml
from pulumi_azure_native import authorization, containerservice, managedidentity, network, resources

from aks_infiniband import system_pool
from aks_infiniband._options import child_options
from aks_infiniband.settings import NetworkSettings, SystemPoolSettings

_NETWORK_CONTRIBUTOR: Final = "4d97b98b-1d4f-4787-a291-c67834d212e7"
"""The built-in role (Azure, "Azure built-in roles"): AKS joins machines and load balancers to the subnet with it."""
# An hour: AKS takes about five minutes for a cluster, and retries for long before it gives one up.
_TIMEOUTS: Final = pulumi.CustomTimeouts(create="60m", update="60m", delete="60m")


class KubeconfigError(pulumi.RunError):
    """Azure handed out credentials that a program cannot use without a person."""


@dataclass(frozen=True, kw_only=True)
class AksClusterArgs:
    """What an AksCluster takes."""

    location: str
    """Azure region."""
    kubernetes_version: str
    """Such as 1.34 or 1.34.2."""
    cluster_name: str
    """1 to 63 letters, digits, - and _."""
    resource_group_name: str
    """The resource group that is made for the cluster."""
    node_resource_group_name: str | None = None
    """The one in which AKS keeps the machines; None leaves the name to AKS."""
    system_pool: SystemPoolSettings = field(default_factory=SystemPoolSettings)
    """The pool that carries the cluster's own pods and the operators."""
    network: NetworkSettings = field(default_factory=NetworkSettings)
    """Address ranges."""


class AksCluster(pulumi.ComponentResource):
    """Resource group, virtual network, identity and cluster.

    Only the system pool is an inline profile, and later changes of it are left alone, with a warning: an update of
    inline profiles goes through one request for the whole cluster, and sets every pool to Scaling.
    """

    managed_cluster: containerservice.ManagedCluster
    """For deleted_with of what lives inside the cluster."""
    cluster_name: pulumi.Output[str]
    resource_group_name: pulumi.Output[str]
    cluster_id: pulumi.Output[str]
    """Azure's resource ID: the cluster_identifier of a Kubernetes provider."""
    subnet_id: pulumi.Output[str]
    """The nodes' subnet."""
    kubeconfig: pulumi.Output[str]
    """YAML, secret, with a certificate or token: it opens no login."""

    def __init__(self, name: str, *, args: AksClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:AksCluster", name, None, opts)
        group = resources.ResourceGroup(
            name,
            resource_group_name=args.resource_group_name,
            location=args.location,
            opts=child_options(self, opts),
        )
        subnet = self._network(name, args, group, opts)
        identity = managedidentity.UserAssignedIdentity(
            name,
            resource_group_name=group.name,
            location=args.location,
            resource_name_=f"{args.cluster_name}-identity",
            opts=child_options(self, opts),
        )
        assignment = self._role_assignment(name, identity, subnet, opts)
        cluster = containerservice.ManagedCluster(
            name,
            resource_group_name=group.name,
            opts=child_options(
                self,
                opts,
                depends_on=[assignment],
                ignore_changes=["agentPoolProfiles"],
                custom_timeouts=_TIMEOUTS,
            ),
            **_cluster_arguments(args, subnet_id=subnet.id, identity_id=identity.id),
        )
        cluster.agent_pool_profiles.apply(
            lambda found: system_pool.warn_of_changes(self, args.system_pool, found or ())
        )
        self.managed_cluster = cluster
        self.cluster_name = cluster.name
        self.resource_group_name = group.name
        self.cluster_id = cluster.id
        self.subnet_id = subnet.id
        self.kubeconfig = self._kubeconfig(group, cluster)
        self.register_outputs(
            {"clusterName": self.cluster_name, "clusterId": self.cluster_id, "kubeconfig": self.kubeconfig}
        )

    def _network(
        self,
        name: str,
        args: AksClusterArgs,
        group: resources.ResourceGroup,
        opts: pulumi.ResourceOptions | None,
    ) -> network.Subnet:
        virtual_network = network.VirtualNetwork(
            name,
            resource_group_name=group.name,
            location=args.location,
            virtual_network_name=f"{args.cluster_name}-network",
            address_space=network.AddressSpaceArgs(address_prefixes=[str(args.network.address_space)]),
            # The subnet is a resource of its own; Azure reports it among the network's properties too.
            opts=child_options(self, opts, ignore_changes=["subnets"]),
        )
        return network.Subnet(
            name,
            resource_group_name=group.name,
            virtual_network_name=virtual_network.name,
            subnet_name="nodes",
            address_prefix=str(args.network.subnet),
            opts=child_options(self, opts),
        )

    def _role_assignment(
        self,
        name: str,
        identity: managedidentity.UserAssignedIdentity,
        subnet: network.Subnet,
        opts: pulumi.ResourceOptions | None,
    ) -> authorization.RoleAssignment:
        """The assignment's name follows from whom it gives what: a new identity gets a new one, never a conflict."""
        role = subnet.id.apply(
            lambda subnet_id: (
                f"/subscriptions/{subnet_id.split('/')[2]}/providers/Microsoft.Authorization/roleDefinitions/"
                f"{_NETWORK_CONTRIBUTOR}"
            )
        )
        return authorization.RoleAssignment(
            name,
            role_assignment_name=pulumi.Output.all(subnet.id, identity.principal_id, role).apply(
                lambda facts: str(uuid.uuid5(uuid.NAMESPACE_URL, "|".join(facts)))
            ),
            scope=subnet.id,
            role_definition_id=role,
            principal_id=identity.principal_id,
            # Without the type Azure looks the new identity up in a directory that does not know it yet.
            principal_type=authorization.PrincipalType.SERVICE_PRINCIPAL,
            opts=child_options(self, opts),
        )

    def _kubeconfig(
        self, group: resources.ResourceGroup, cluster: containerservice.ManagedCluster
    ) -> pulumi.Output[str]:
        credentials = containerservice.list_managed_cluster_user_credentials_output(
            resource_group_name=group.name,
            # Not before the cluster is there: at preview of its creation its ID is unknown, and so is the result.
            resource_name=pulumi.Output.all(cluster.id, cluster.name).apply(lambda made: made[1]),
            opts=pulumi.InvokeOutputOptions(parent=self),
        )
        return pulumi.Output.secret(credentials.apply(lambda found: decode_kubeconfig(found.kubeconfigs[0].value)))


def _cluster_arguments(
    args: AksClusterArgs, *, subnet_id: pulumi.Input[str], identity_id: pulumi.Input[str]
) -> dict[str, Any]:
    ranges = args.network
    return {
        "resource_name_": args.cluster_name,
        "location": args.location,
        "kubernetes_version": args.kubernetes_version,
        # At most 54 letters, digits and -, and no - at the end (Azure, rules for resource names).
        "dns_prefix": args.cluster_name.replace("_", "-")[:54].rstrip("-"),
        "node_resource_group": args.node_resource_group_name,
        "sku": containerservice.ManagedClusterSKUArgs(name="Base", tier="Standard"),
        "identity": containerservice.ManagedClusterIdentityArgs(
            type=containerservice.ResourceIdentityType.USER_ASSIGNED, user_assigned_identities=[identity_id]
        ),
        "enable_rbac": True,
        "agent_pool_profiles": [system_pool.profile(args.system_pool, subnet_id)],
        "network_profile": containerservice.ContainerServiceNetworkProfileArgs(
            network_plugin=containerservice.NetworkPlugin.AZURE,
            network_plugin_mode=containerservice.NetworkPluginMode.OVERLAY,
            pod_cidr=str(ranges.pod_cidr),
            service_cidr=str(ranges.service_cidr),
            # AKS's own habit: the tenth address of the services' range.
            dns_service_ip=str(ranges.service_cidr[10]),
            load_balancer_sku=containerservice.LoadBalancerSku.STANDARD,
            outbound_type=containerservice.OutboundType.LOAD_BALANCER,
        ),
        "oidc_issuer_profile": containerservice.ManagedClusterOIDCIssuerProfileArgs(enabled=True),
        "security_profile": containerservice.ManagedClusterSecurityProfileArgs(
            workload_identity=containerservice.ManagedClusterSecurityProfileWorkloadIdentityArgs(enabled=True)
        ),
        # A new node image means a new kernel under the InfiniBand and GPU drivers: never without being asked.
        "auto_upgrade_profile": containerservice.ManagedClusterAutoUpgradeProfileArgs(
            upgrade_channel=containerservice.UpgradeChannel.NONE,
            node_os_upgrade_channel=containerservice.NodeOSUpgradeChannel.NONE,
        ),
    }


def decode_kubeconfig(encoded: str) -> str:
    """The kubeconfig that Azure hands out in base64.

    Raises KubeconfigError where it would start a login (exec plugin or auth provider): without a terminal that
    hangs.
    """
    text = base64.b64decode(encoded).decode()
    for user in yaml.safe_load(text).get("users", []):
        for way in ("exec", "auth-provider"):
            if way in user["user"]:
                raise KubeconfigError(
                    f"the cluster's kubeconfig logs user {user['name']} in through {way!r}, which waits for a person; "
                    "it must carry a certificate or token: enable the cluster's local accounts"
                )
    return text
