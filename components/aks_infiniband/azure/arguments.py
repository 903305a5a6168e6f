"""The settings of a cluster and its pools in Azure, as plain data: the arguments of this room's components."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from typing import Literal

from aks_infiniband.access.kubeconfig import Login
from aks_infiniband.facts.bounds import DiskGb, MaxPods, Nodes, keep_bounds

OutboundType = Literal["loadBalancer", "userAssignedNATGateway", "userDefinedRouting", "none"]
"""Not managedNATGateway: Azure refuses it with a subnet that is given, as ours always is (Azure, "Create a managed or
user-assigned NAT gateway")."""
Priority = Literal["Regular", "Spot"]
Tags = Mapping[str, str]
"""Of a resource, value by name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemPool:
    """The pool that carries the cluster's own pods and both operators."""

    vm_size: str = "Standard_D8s_v5"
    """Azure VM size without InfiniBand."""
    count: Nodes = 2
    """Number of nodes."""
    zones: Sequence[str] = ()
    """Availability zones; none means wherever there is capacity."""

    def __post_init__(self) -> None:
        """Raises ValueError for a number that is out of bounds."""
        keep_bounds(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterNetwork:
    """Address ranges, or existing subnets, and the way out."""

    address_space: IPv4Network = IPv4Network("10.224.0.0/12")
    """The virtual network that is made."""
    subnet: IPv4Network = IPv4Network("10.224.0.0/16")
    """The nodes' subnet that is made."""
    node_subnet_id: str | None = None
    """An existing subnet for the nodes; then no virtual network is made."""
    pod_subnet_id: str | None = None
    """An existing subnet for the pods; None means the overlay."""
    pod_cidr: IPv4Network = IPv4Network("10.244.0.0/16")
    """The pods' overlay."""
    service_cidr: IPv4Network = IPv4Network("10.0.0.0/16")
    """The services."""
    outbound_type: OutboundType = "loadBalancer"
    """How nodes reach the internet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiServer:
    """Who reaches the Kubernetes API."""

    private: bool = False
    """Only from within the virtual network."""
    authorized_ip_ranges: Sequence[IPv4Network] = ()
    """Public ranges that reach a public API server; none means all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """How people and programs log in. Raises ValueError where no way to log in is left."""

    entra_id: bool = False
    """Microsoft Entra ID logs in, and Azure RBAC decides what each may do."""
    admin_group_object_ids: Sequence[str] = ()
    """Groups of Entra ID that administer the cluster."""
    local_accounts: bool = True
    """Certificates for administrators that no directory knows. Only with entra_id can they be off."""
    login: Login = "azurecli"
    """As whom kubelogin logs in with entra_id."""

    def __post_init__(self) -> None:
        if not self.local_accounts and not self.entra_id:
            raise ValueError("access.local_accounts is off without access.entra_id: nobody could log in")


@dataclass(frozen=True, kw_only=True, slots=True)
class Autoscale:
    """Bounds of the cluster autoscaler."""

    begin: Nodes
    """Nodes at first; later updates follow the autoscaler."""
    min_count: Nodes
    """At least 1: no autoscaler starts a node for an extended resource that it has never seen (AKS issue 2832)."""
    max_count: Nodes
    """With InfiniBand at most what one placement group takes."""

    def __post_init__(self) -> None:
        """Raises ValueError for a number that is out of bounds."""
        keep_bounds(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Machines:
    """Settings of a pool's machines beside their size and number. With None, Azure chooses the value."""

    autoscale: Autoscale | None = None
    """Default: the pool keeps its count."""
    labels: dict[str, str] = field(default_factory=dict)
    """Further node labels. They live on the pool, so that nothing that touches a node loses them."""
    max_pods: MaxPods | None = None
    """Pods that a node takes, 250 at most. Both operators and our own DaemonSets take up to 30 of them
    (edwardsp/azcluster 29c1960, AGENTS.md)."""
    os_sku: str = "Ubuntu"
    """Ubuntu, Ubuntu2204 or Ubuntu2404. AKS takes Ubuntu2404 from Kubernetes 1.32 on, and may not recognise it in
    the API version that azure-native sends (`facts/catalog/machine.py`)."""
    os_disk_size_gb: DiskGb | None = None
    """GB of the OS disk."""
    os_disk_type: str | None = None
    """Managed or Ephemeral."""
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
