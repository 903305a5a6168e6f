"""The properties of a cluster and its pools in Azure: sections of a stack file, and the arguments of this room."""

from ipaddress import IPv4Network
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from aks_infiniband.access.kubeconfig import Login
from aks_infiniband.facts import rules
from aks_infiniband.facts.bounds import Nodes
from aks_infiniband.facts.kubernetes import SupportPlan
from aks_infiniband.facts.ranges import Network, PublicRange
from aks_infiniband.facts.rules import Zone
from aks_infiniband.handwritten.section import Section

OutboundType = Literal["loadBalancer", "userAssignedNATGateway", "userDefinedRouting", "none"]
"""Not managedNATGateway: Azure refuses it with a subnet that is given, as ours always is (Azure, "Create a managed or
user-assigned NAT gateway")."""
TAG_NAME: Final = rules.Matching(
    r"[^<>%&\\?/\x00-\x1f]{1,512}", "the name of a tag: 1 to 512 characters, none of them < > % & \\ ? or /"
)
TAG_VALUE: Final = rules.Matching(r"[^\x00-\x1f]{0,256}", "the value of a tag: at most 256 characters, on one line")


def _not_azures(name: str) -> str:
    if name.lower().startswith(("azure", "microsoft", "windows")):
        raise ValueError("must not begin with azure, microsoft or windows: Azure keeps these for itself")
    return name


Tags = Annotated[
    dict[Annotated[str, TAG_NAME, AfterValidator(_not_azures)], Annotated[str, TAG_VALUE]], Field(max_length=50)
]
"""Limits: MicrosoftDocs/azure-docs, azure-resource-manager/management/tag-resources.md (read 2026-11-23); the prefixes:
S. Pereira, "Azure Tags naming size limits and restrictions" (2025-05-30)."""


class SystemPool(Section):
    """The pool that carries the cluster's own pods and both operators.

    These settings count when the cluster is made. A later change of them changes nothing, and `pulumi up` warns,
    because Azure takes inline pools in one request with all other pools. Its count is changed with `az aks nodepool
    scale`; for another size or zone, add a second system pool with `az aks nodepool add --mode System`, and delete the
    first.
    """

    vm_size: Annotated[str, rules.vm_size, AfterValidator(rules.system_size)] = "Standard_D8s_v5"
    """Azure VM size without InfiniBand."""
    count: Nodes = Field(default=2, strict=True)
    """Number of nodes."""
    zones: tuple[Zone, ...] = ()
    """Availability zones; none means wherever there is capacity."""


class ClusterNetwork(Section):
    """Address ranges (CIDR) and ways out. With the overlay, the default, only nodes take addresses of the network.

    Set when the cluster is made: Azure refuses to change the ranges of one that exists.
    """

    address_space: Network = IPv4Network("10.224.0.0/12")
    """The virtual network that is made."""
    subnet: Network = IPv4Network("10.224.0.0/16")
    """The nodes' subnet that is made, within addressSpace."""
    node_subnet_id: Annotated[str, rules.subnet_id] | None = None
    """An existing subnet for the nodes; then no virtual network is made, and addressSpace and subnet are left out."""
    pod_subnet_id: Annotated[str, rules.subnet_id] | None = None
    """An existing subnet for the pods, in addition to nodeSubnetId: pods take its addresses, and the overlay is off."""
    pod_cidr: Network = IPv4Network("10.244.0.0/16")
    """The pods' overlay; every node takes a /24 of it."""
    service_cidr: Network = IPv4Network("10.0.0.0/16")
    """The services."""
    outbound_type: OutboundType = "loadBalancer"
    """The way of nodes to the internet. Each type except loadBalancer needs a nodeSubnetId that is prepared for it."""


class ApiServer(Section):
    """Access to the Kubernetes API."""

    private: bool = Field(default=False, strict=True)
    """Only from within the virtual network; `pulumi up` has to run there too. A change replaces the cluster."""
    authorized_ip_ranges: tuple[PublicRange, ...] = Field(default=(), max_length=200)
    """Public ranges (CIDR) that reach a public API server; none means all. The machine on which `pulumi up` runs must
    be among them. Azure takes 200 of them at most.
    """


class Access(Section):
    """Logins of people and programs."""

    entra_id: bool = Field(default=False, strict=True)
    """Microsoft Entra ID checks who logs in, and Azure RBAC decides what each may do. The user who runs `pulumi up`
    needs the role Azure Kubernetes Service RBAC Cluster Admin, and kubelogin on the PATH. AKS never turns it off again.
    """
    admin_group_object_ids: tuple[Annotated[str, rules.object_id], ...] = ()
    """Groups of Entra ID that administer the cluster."""
    local_accounts: bool = Field(default=True, strict=True)
    """Certificates for administrators that no directory knows. Only with entraId can they be off."""
    login: Login = "azurecli"
    """The login method of kubelogin with entraId. None of these methods is interactive."""


class Cluster(Section):
    """The AKS cluster and what it stands in."""

    kubernetes_version: Annotated[str, rules.version, AfterValidator(rules.kubernetes_version)]
    """Such as "1.35" (AKS picks the patch) or "1.35.8"; quoted, or YAML makes a number of it. `aks-infiniband upgrade`
    raises it, machine by machine and measured. `pulumi up` with a newer one upgrades control plane and pools without
    measuring between machines, and leaves the system pool as it is. From 1.35 on the OS SKU Ubuntu is 24.04 with
    containerd 2, so raising a cluster to it changes the system of its nodes in place; osSku Ubuntu2204 keeps them."""
    support_plan: SupportPlan = "KubernetesOfficial"
    """With AKSLongTermSupport AKS supports a version for a year longer. The cluster is then in the tier Premium, which
    costs more than Standard."""
    node_resource_group: Annotated[str, rules.resource_group_name] | None = None
    """Name of the resource group in which AKS keeps the machines. Default: AKS's own choice."""
    identity_id: Annotated[str, rules.identity_id] | None = None
    """An existing user-assigned identity of the stack's subscription, already permitted on existing subnets. Default:
    one is made."""
    system_pool: SystemPool = SystemPool()
    network: ClusterNetwork = ClusterNetwork()
    api_server: ApiServer = ApiServer()
    access: Access = Access()
    tags: Tags = Field(default_factory=dict)
    """Tags of every Azure resource that takes any: group, network, identity, cluster, pools and their machines, alerts.
    AKS gives them to what it makes for the cluster, too. 50 at most; names that differ only in case are one tag. The
    system pool gets them when the cluster is made, and `pulumi up` warns of a later change."""
