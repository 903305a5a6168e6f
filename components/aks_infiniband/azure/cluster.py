"""An AKS cluster in a new network or in existing subnets, with the system pool only."""

from dataclasses import dataclass
from typing import Annotated, Any, Final

import pulumi
from pulumi_azure_native import containerservice, resources
from pydantic import AfterValidator

from aks_infiniband import diagnosis
from aks_infiniband.access import api_server, kubeconfig
from aks_infiniband.azure import profiles
from aks_infiniband.azure.arguments import Access, Cluster
from aks_infiniband.azure.identity import Identity, make_identity
from aks_infiniband.azure.network import Place, Subnets, make_subnets
from aks_infiniband.facts import rules
from aks_infiniband.facts.bounds import keep_rules
from aks_infiniband.resources.options import child_options

# An hour: AKS takes about five minutes for a cluster, and retries for long before it gives one up.
_TIMEOUTS: Final = pulumi.CustomTimeouts(create="60m", update="60m", delete="60m")
_REPLACED_BY: Final = ("apiServerAccessProfile.enablePrivateCluster",)
"""AKS makes no public cluster private, nor the reverse (AKS, "Create a private cluster", limitations). Other properties
that Azure does not change in place, azure-native replaces by itself.
"""


@dataclass(frozen=True, kw_only=True)
class AksClusterArgs:
    """The arguments of an AksCluster."""

    location: Annotated[str, AfterValidator(rules.region_name)]
    """Azure region."""
    cluster_name: Annotated[str, rules.resource_name]
    """1 to 63 letters, digits, - and _."""
    resource_group_name: Annotated[str, rules.resource_group_name]
    """The resource group that is made for the cluster."""
    settings: Cluster
    """The cluster itself, as a stack file describes it."""

    def __post_init__(self) -> None:
        """Raises ValueError if no user could log in, and for values that Azure does not take."""
        keep_rules(self)
        access = self.settings.access
        if not access.local_accounts and not access.entra_id:
            raise ValueError("access.local_accounts is off without access.entra_id: no user could log in")


class AksCluster(pulumi.ComponentResource):
    """Resource group, network, identity and cluster.

    Only the system pool is an inline profile, and later changes of it are left alone, with a warning: an update of
    inline profiles goes through one request for the whole cluster, and sets every pool to Scaling.

    Raises KubeconfigError if the cluster is to have Microsoft Entra ID and kubelogin is not installed, ApiServerError
    if the cluster that was made cannot be reached.
    """

    managed_cluster: containerservice.ManagedCluster
    """For deleted_with of what lives inside the cluster."""
    cluster_name: pulumi.Output[str]
    """Known once the cluster is there."""
    resource_group_name: pulumi.Output[str]
    """Known once the group is there."""
    cluster_id: pulumi.Output[str]
    """Azure's resource ID: the cluster_identifier of a Kubernetes provider."""
    subnet_id: pulumi.Output[str]
    """The nodes' subnet."""
    pod_subnet_id: pulumi.Output[str] | None
    """The pods' subnet; None with the overlay."""
    oidc_issuer_url: pulumi.Output[str | None]
    """For federated credentials of workload identity."""
    kubeconfig: pulumi.Output[str]
    """YAML, secret: with a certificate, or with kubelogin if Entra ID is on. The login is not interactive. Known once
    the API server takes connections.
    """

    def __init__(self, name: str, *, args: AksClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:AksCluster", name, None, opts)
        if args.settings.access.entra_id:
            kubeconfig.require_kubelogin()
        made = child_options(self, opts, hooks=diagnosis.azure_operation())
        group, place = _group(name, args, made)
        subnets = make_subnets(args.settings.network, place)
        identity = make_identity(args.settings.identity_id, subnets, place)
        cluster = containerservice.ManagedCluster(
            name,
            resource_group_name=group.name,
            opts=child_options(
                self,
                opts,
                depends_on=list(identity.assignments),
                ignore_changes=["agentPoolProfiles"],
                replace_on_changes=list(_REPLACED_BY),
                delete_before_replace=True,
                custom_timeouts=_TIMEOUTS,
                hooks=diagnosis.azure_operation(),
            ),
            **_cluster_arguments(args, subnets, identity),
        )
        cluster.agent_pool_profiles.apply(
            lambda found: profiles.warn_of_changes(self, args.settings.system_pool, args.settings.tags, found or ())
        )
        self.managed_cluster = cluster
        # Not the output `name`: at preview of an update it is unknown, and every pool would seem to be replaced.
        self.cluster_name = cluster.id.apply(lambda _: args.cluster_name)
        self.resource_group_name = group.name
        self.cluster_id = cluster.id
        self.subnet_id = pulumi.Output.from_input(subnets.nodes)
        self.pod_subnet_id = None if subnets.pods is None else pulumi.Output.from_input(subnets.pods)
        self.oidc_issuer_url = cluster.oidc_issuer_profile.apply(lambda found: found and found.issuer_url)
        self.kubeconfig = self._kubeconfig(args.settings.access, group)
        self.register_outputs(
            {
                "clusterName": self.cluster_name,
                "clusterId": self.cluster_id,
                "kubeconfig": self.kubeconfig,
                "oidcIssuerUrl": self.oidc_issuer_url,
            }
        )

    def _kubeconfig(self, access: Access, group: resources.ResourceGroup) -> pulumi.Output[str]:
        credentials = containerservice.list_managed_cluster_user_credentials_output(
            resource_group_name=group.name,
            resource_name=self.cluster_name,
            opts=pulumi.InvokeOutputOptions(parent=self),
        )

        def usable(result: containerservice.ListManagedClusterUserCredentialsResult) -> str:
            encoded = result.kubeconfigs[0].value
            return kubeconfig.with_kubelogin(encoded, access.login) if access.entra_id else kubeconfig.decode(encoded)

        return pulumi.Output.secret(credentials.apply(usable).apply(api_server.reachable))


def _group(name: str, args: AksClusterArgs, opts: pulumi.ResourceOptions) -> tuple[resources.ResourceGroup, Place]:
    group = resources.ResourceGroup(
        name,
        resource_group_name=args.resource_group_name,
        location=args.location,
        tags=dict(args.settings.tags) or None,
        opts=opts,
    )
    place = Place(
        name=name,
        cluster_name=args.cluster_name,
        location=args.location,
        resource_group_name=group.name,
        tags=args.settings.tags,
        opts=opts,
    )
    return group, place


def _cluster_arguments(args: AksClusterArgs, subnets: Subnets, identity: Identity) -> dict[str, Any]:
    settings = args.settings
    return {
        "resource_name_": args.cluster_name,
        "location": args.location,
        "tags": dict(settings.tags) or None,
        "kubernetes_version": settings.kubernetes_version,
        # At most 54 letters, digits and -, and no - at the end (Azure, rules for resource names).
        "dns_prefix": args.cluster_name.replace("_", "-")[:54].rstrip("-"),
        "node_resource_group": settings.node_resource_group,
        "sku": containerservice.ManagedClusterSKUArgs(
            name="Base", tier="Premium" if settings.support_plan == "AKSLongTermSupport" else "Standard"
        ),
        "support_plan": settings.support_plan,
        "identity": containerservice.ManagedClusterIdentityArgs(
            type=containerservice.ResourceIdentityType.USER_ASSIGNED, user_assigned_identities=[identity.id]
        ),
        "enable_rbac": True,
        "agent_pool_profiles": [profiles.system_pool(settings.system_pool, settings.tags, subnets.nodes, subnets.pods)],
        "network_profile": profiles.network(settings.network),
        "bootstrap_profile": profiles.bootstrap(settings.network),
        "api_server_access_profile": profiles.api_server(settings.api_server),
        "aad_profile": profiles.directory(settings.access),
        "disable_local_accounts": not settings.access.local_accounts,
        "oidc_issuer_profile": containerservice.ManagedClusterOIDCIssuerProfileArgs(enabled=True),
        "security_profile": containerservice.ManagedClusterSecurityProfileArgs(
            workload_identity=containerservice.ManagedClusterSecurityProfileWorkloadIdentityArgs(enabled=True)
        ),
        # A new node image means a new kernel under the InfiniBand and GPU drivers: never without a request.
        "auto_upgrade_profile": containerservice.ManagedClusterAutoUpgradeProfileArgs(
            upgrade_channel=containerservice.UpgradeChannel.NONE,
            node_os_upgrade_channel=containerservice.NodeOSUpgradeChannel.NONE,
        ),
    }
