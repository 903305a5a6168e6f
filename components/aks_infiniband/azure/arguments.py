"""What a cluster and its pools in Azure are asked for: sections of a stack file, and the arguments of this room."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from aks_infiniband.access.kubeconfig import Login
from aks_infiniband.facts import rules
from aks_infiniband.facts.bounds import DiskGb, MaxPods, Nodes, keep_bounds
from aks_infiniband.facts.kubernetes import SupportPlan
from aks_infiniband.facts.ranges import Network, PublicRange
from aks_infiniband.facts.rules import Zone
from aks_infiniband.handwritten.section import Section

OutboundType = Literal["loadBalancer", "userAssignedNATGateway", "userDefinedRouting", "none"]
"""Not managedNATGateway: Azure refuses it with a subnet that is given, as ours always is (Azure, "Create a managed or
user-assigned NAT gateway")."""
Priority = Literal["Regular", "Spot"]
OsDiskType = Literal["Managed", "Ephemeral"]
"""Where the OS disk lies."""
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
    """An existing subnet for the pods, beside nodeSubnetId: pods take its addresses, and there is no overlay."""
    pod_cidr: Network = IPv4Network("10.244.0.0/16")
    """The pods' overlay; every node takes a /24 of it."""
    service_cidr: Network = IPv4Network("10.0.0.0/16")
    """The services."""
    outbound_type: OutboundType = "loadBalancer"
    """How nodes reach the internet. All but loadBalancer need a nodeSubnetId that is prepared for it."""


class ApiServer(Section):
    """Who reaches the Kubernetes API."""

    private: bool = Field(default=False, strict=True)
    """Only from within the virtual network; `pulumi up` has to run there too. A change replaces the cluster."""
    authorized_ip_ranges: tuple[PublicRange, ...] = Field(default=(), max_length=200)
    """Public ranges (CIDR) that reach a public API server; none means all. Where `pulumi up` runs must be among them.
    Azure takes 200 of them at most."""


class Access(Section):
    """How people and programs log in."""

    entra_id: bool = Field(default=False, strict=True)
    """Microsoft Entra ID checks who logs in, and Azure RBAC decides what each may do. Whoever runs `pulumi up` needs
    the role Azure Kubernetes Service RBAC Cluster Admin, and kubelogin on the PATH. AKS never turns it off again."""
    admin_group_object_ids: tuple[Annotated[str, rules.object_id], ...] = ()
    """Groups of Entra ID that administer the cluster."""
    local_accounts: bool = Field(default=True, strict=True)
    """Certificates for administrators that no directory knows. Only with entraId can they be off."""
    login: Login = "azurecli"
    """How kubelogin logs in with entraId. None of these ways asks a person."""


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


class AutoscaleBounds(Section):
    """Bounds of the cluster autoscaler. The pool begins with its count, which Azure changes later."""

    min_count: Nodes = Field(strict=True)
    """At least 1: no autoscaler starts a node for an extended resource that it has never seen (AKS issue 2832)."""
    max_count: Nodes = Field(strict=True)
    """With InfiniBand at most what one placement group takes: 100, or cluster.placementGroupLimit."""


class Autoscale(AutoscaleBounds):
    """Bounds of the cluster autoscaler, and the number with which the pool begins."""

    begin: Nodes = Field(strict=True)
    """Nodes at first; later updates follow the autoscaler."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Machines:
    """Settings of a pool's machines beside their size and number. With None, Azure chooses the value."""

    autoscale: Autoscale | None = None
    """Default: the pool keeps its count."""
    labels: dict[str, str] = field(default_factory=dict)
    """Further node labels. They live on the pool, so that nothing that touches a node loses them."""
    kubernetes_version: str | None = None
    """Version of the nodes while they are behind the cluster's."""
    max_pods: MaxPods | None = None
    """Pods that a node takes, 250 at most. Both operators and our own DaemonSets take up to 30 of them
    (edwardsp/azcluster 29c1960, AGENTS.md)."""
    os_sku: str = "Ubuntu"
    """One of `OsSku` (`facts/catalog/machine.py`), which says why Ubuntu2404 is none of them."""
    os_disk_size_gb: DiskGb | None = None
    """GB of the OS disk."""
    os_disk_type: OsDiskType | None = None
    """None means Azure's choice, which follows from the size."""
    node_image_snapshot_id: str | None = None
    """A node pool snapshot whose node image the nodes get; None means the newest. A change reimages the nodes, one
    after the other."""
    capacity_reservation_group_id: str | None = None
    """A capacity reservation group with room for the pool, which must be without InfiniBand: Azure reserves no capacity
    for placement groups, nor for ND, HB and HC sizes. The cluster's identity needs the role Contributor on it
    (AKS, "Use capacity reservation groups"): give the cluster an existing identity that has it."""
    zones: Sequence[str] = ()
    """Availability zones; none means wherever there is capacity."""

    def __post_init__(self) -> None:
        """Raises ValueError for a number that is out of bounds."""
        keep_bounds(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class OrdinaryPool:
    """A pool of machines without InfiniBand."""

    name: str
    """1 to 12 lower-case letters and digits, a letter first."""
    vm_size: str
    """Azure VM size, such as Standard_D8s_v5."""
    node_count: Nodes
    """Number of nodes; of an autoscaled pool those that it always has."""
    taints: tuple[str, ...] = ()
    """As key=value:Effect."""
    priority: Priority = "Regular"
    """Spot machines are cheaper and evicted at any time; their taint keeps off what does not tolerate it. A change
    replaces the pool."""

    def __post_init__(self) -> None:
        """Raises ValueError for a number that is out of bounds."""
        keep_bounds(self)
