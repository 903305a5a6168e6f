"""The components that Azure makes beside the cluster, for every language: the feature, and pools of machines."""

from typing import Any, NotRequired, TypedDict

import pulumi

from aks_infiniband.azure import feature, node_pool
from aks_infiniband.azure.arguments import Machines, OrdinaryPool
from aks_infiniband.provider.arguments import taken
from aks_infiniband.provider.enumerations import OsDiskType, OsSku, Priority
from aks_infiniband.provider.inputs import PoolDescription, WaitsDescription


class FeatureRegistrationInputs(TypedDict):
    """What a FeatureRegistration takes."""

    location: str
    """Azure region in which Azure keeps the record of the deployment; the feature itself has none."""
    waits: NotRequired[WaitsDescription]
    """How often the state of the feature is looked at, and how long the registration may take."""
    tags: NotRequired[dict[str, str]]
    """Of the deployment that registers it."""


class FeatureRegistration(feature.FeatureRegistration):
    """AKSInfinibandSupport, Registered in the subscription, and AKS told of it. It outlives the stack."""

    registered: pulumi.Output[Any]
    """ID of what registers it, known once the feature is Registered."""

    def __init__(self, name: str, args: FeatureRegistrationInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(feature.FeatureRegistrationArgs, args), opts=opts)
        self.registered = self.registered.apply(_id)


class FeatureAbsenceInputs(TypedDict):
    """What a FeatureAbsence takes: nothing. The subscription is that of the provider."""


class FeatureAbsence(feature.FeatureAbsence):
    """AKSInfinibandSupport, not registered in the subscription, and AKS told of it: for GB200 and GB300."""

    absent: pulumi.Output[Any]
    """ID of what tells AKS. It is known once the feature was found absent."""

    def __init__(self, name: str, args: FeatureAbsenceInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(feature.FeatureAbsenceArgs, args), opts=opts)
        self.absent = self.absent.apply(_id)


class AutoscaleDescription(TypedDict):
    """Bounds of the cluster autoscaler, and the number with which the pool begins."""

    min_count: int
    """Nodes that the pool always has: at least 1."""
    max_count: int
    """The most nodes; with InfiniBand, what one placement group takes."""
    begin: int
    """Nodes at first. Later updates follow the autoscaler."""


class NodePoolInputs(TypedDict):
    """What every pool takes."""

    resource_group_name: pulumi.Input[str]
    """Resource group of the cluster."""
    cluster_name: pulumi.Input[str]
    """Name of the managed cluster."""
    subnet_id: NotRequired[pulumi.Input[str]]
    """The subnet of the nodes. Leave it out where the cluster is in the network that AKS made for it."""
    pod_subnet_id: NotRequired[pulumi.Input[str]]
    """The subnet of the pods. Leave it out with the overlay."""
    kubernetes_version: NotRequired[pulumi.Input[str]]
    """Version of the nodes. Default: the cluster's when the pool is made."""
    autoscale: NotRequired[AutoscaleDescription]
    """Bounds of the cluster autoscaler. Default: the pool keeps its count."""
    labels: NotRequired[dict[str, str]]
    """Further labels of the nodes."""
    max_pods: NotRequired[int]
    """Pods that a node takes, 250 at most. Default: Azure's."""
    os_sku: NotRequired[OsSku]
    """System of the nodes. Default: Ubuntu."""
    os_disk_size_gb: NotRequired[int]
    """GB of the OS disk. Default: Azure's."""
    os_disk_type: NotRequired[OsDiskType]
    """Where the OS disk lies. Default: Azure's choice by the size."""
    node_image_snapshot_id: NotRequired[str]
    """A node pool snapshot whose node image the nodes get. A change reimages the nodes. Default: the newest image."""
    zones: NotRequired[list[str]]
    """Availability zones; with InfiniBand one at most. Default: wherever there is capacity."""
    tags: NotRequired[dict[str, str]]
    """Of the pool, its scale set and its machines."""


class InfinibandNodePoolInputs(NodePoolInputs):
    """What an InfinibandNodePool takes."""

    pool: PoolDescription
    """The pool."""
    placement_group_limit: NotRequired[int]
    """Machines that the subscription may have in one placement group: 100, or up to 300 where Azure has raised it.
    Default: 100."""


class InfinibandNodePool(node_pool.InfinibandNodePool):
    """An AgentPool whose machines share one InfiniBand fabric, with exactly one owner of the GPU driver."""

    ready: pulumi.Output[Any]
    """ID of the pool in Azure, known once Azure says Succeeded."""

    def __init__(self, name: str, args: InfinibandNodePoolInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        given = taken(node_pool.InfinibandNodePoolArgs, args, machines=_machines(args))
        super().__init__(name, args=given, opts=opts)
        self.ready = self.ready.apply(_id)


class OrdinaryPoolDescription(TypedDict):
    """One pool of machines without InfiniBand."""

    name: str
    """Name of the pool: 1 to 12 lower-case letters and digits, a letter first."""
    vm_size: str
    """Azure VM size, such as Standard_D8s_v5."""
    count: int
    """Number of nodes; of an autoscaled pool those that it always has."""
    taints: NotRequired[list[str]]
    """As key=value:Effect."""
    priority: NotRequired[Priority]
    """Whether Azure may evict the machines at any time. A change replaces the pool. Default: Regular."""


class OrdinaryNodePoolInputs(NodePoolInputs):
    """What an OrdinaryNodePool takes."""

    pool: OrdinaryPoolDescription
    """The pool."""
    capacity_reservation_group_id: NotRequired[str]
    """A capacity reservation group with room for the pool. The identity of the cluster needs the role Contributor."""


class OrdinaryNodePool(node_pool.OrdinaryNodePool):
    """An AgentPool without InfiniBand. Nothing of ours runs on it."""

    ready: pulumi.Output[Any]
    """ID of the pool in Azure, known once Azure says Succeeded."""

    def __init__(self, name: str, args: OrdinaryNodePoolInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        pool = taken(OrdinaryPool, args["pool"], node_count=args["pool"]["count"])
        given = taken(node_pool.OrdinaryNodePoolArgs, args, pool=pool, machines=_machines(args))
        super().__init__(name, args=given, opts=opts)
        self.ready = self.ready.apply(_id)


def _machines(given: NodePoolInputs) -> Machines:
    """The version is the pool's, where it may come from the cluster."""
    return taken(Machines, given, kubernetes_version=None)


def _id(made: Any) -> Any:
    return made.id
