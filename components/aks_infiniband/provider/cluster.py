"""The AKS cluster for every language."""

from typing import Any, NotRequired, TypedDict

import pulumi

from aks_infiniband.azure import cluster
from aks_infiniband.provider.arguments import taken
from aks_infiniband.provider.enumerations import Login, OutboundType, SupportPlan


class SystemPoolDescription(TypedDict):
    """The pool that carries the pods of the cluster and of the operators. It counts when the cluster is made."""

    vm_size: NotRequired[str]
    """Azure VM size without InfiniBand. Default: Standard_D8s_v5."""
    count: NotRequired[int]
    """Number of nodes. Default: 2."""
    zones: NotRequired[list[str]]
    """Availability zones. Default: wherever there is capacity."""


class ClusterNetworkDescription(TypedDict):
    """Address ranges (CIDR) and the way out. Set when the cluster is made."""

    address_space: NotRequired[str]
    """The virtual network that is made. Default: 10.224.0.0/12."""
    subnet: NotRequired[str]
    """The subnet of the nodes that is made, within addressSpace. Default: 10.224.0.0/16."""
    node_subnet_id: NotRequired[str]
    """An existing subnet for the nodes; then no virtual network is made."""
    pod_subnet_id: NotRequired[str]
    """An existing subnet for the pods, beside nodeSubnetId; then there is no overlay."""
    pod_cidr: NotRequired[str]
    """The overlay of the pods. Default: 10.244.0.0/16."""
    service_cidr: NotRequired[str]
    """The services. Default: 10.0.0.0/16."""
    outbound_type: NotRequired[OutboundType]
    """How nodes reach the internet. All but loadBalancer need a nodeSubnetId. Default: loadBalancer."""


class ApiServerDescription(TypedDict):
    """Who reaches the Kubernetes API."""

    private: NotRequired[bool]
    """Only from within the virtual network. A change replaces the cluster. Default: false."""
    authorized_ip_ranges: NotRequired[list[str]]
    """Public ranges (CIDR) that reach a public API server, 200 at most. Default: all."""


class AccessDescription(TypedDict):
    """How people and programs log in."""

    entra_id: NotRequired[bool]
    """Microsoft Entra ID checks who logs in, and Azure RBAC what each may do. It is never off again. Default: false."""
    admin_group_object_ids: NotRequired[list[str]]
    """Groups of Entra ID that administer the cluster."""
    local_accounts: NotRequired[bool]
    """Certificates for administrators that no directory knows. Only with entraId can they be off. Default: true."""
    login: NotRequired[Login]
    """How kubelogin logs in with entraId. Default: azurecli."""


class ClusterDescription(TypedDict):
    """The AKS cluster and what it stands in, as a stack file describes it under aks-infiniband:cluster."""

    kubernetes_version: str
    """Such as 1.35 (AKS picks the patch) or 1.35.8. In YAML it needs quotes."""
    support_plan: NotRequired[SupportPlan]
    """With AKSLongTermSupport the cluster is in the tier Premium. Default: KubernetesOfficial."""
    node_resource_group: NotRequired[str]
    """Name of the resource group in which AKS keeps the machines. Default: AKS's own choice."""
    identity_id: NotRequired[str]
    """An existing user-assigned identity, already permitted on existing subnets. Default: one is made."""
    system_pool: NotRequired[SystemPoolDescription]
    """The system pool."""
    network: NotRequired[ClusterNetworkDescription]
    """The network."""
    api_server: NotRequired[ApiServerDescription]
    """The API server."""
    access: NotRequired[AccessDescription]
    """Who logs in, and how."""
    tags: NotRequired[dict[str, str]]
    """Of every Azure resource that takes any, 50 at most."""


class AksClusterInputs(TypedDict):
    """What an AksCluster takes."""

    location: str
    """Azure region."""
    cluster_name: str
    """1 to 63 letters, digits, - and _."""
    resource_group_name: str
    """The resource group that is made for the cluster."""
    settings: ClusterDescription
    """The cluster itself."""


class AksCluster(cluster.AksCluster):
    """An AKS cluster with one system pool, its resource group, network and identity."""

    managed_cluster: Any
    """The same as clusterId."""

    def __init__(self, name: str, args: AksClusterInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(cluster.AksClusterArgs, args), opts=opts)
        self.managed_cluster = self.managed_cluster.id
