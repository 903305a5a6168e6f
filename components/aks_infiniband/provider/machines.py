"""The components that Azure makes beside the cluster, for every language: the feature, and pools of machines."""

from typing import Any, NotRequired, TypedDict

import pulumi

from aks_infiniband.azure import feature, node_pool
from aks_infiniband.azure.machines import Autoscale, Machines, OrdinaryPool
from aks_infiniband.provider.arguments import taken
from aks_infiniband.provider.described import describes
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


@describes(Autoscale)
class AutoscaleDescription(TypedDict):
    """Bounds of the cluster autoscaler."""


@describes(Machines)
class MachinesDescription(TypedDict):
    """Properties that a pool of any kind may ask Azure for."""


@describes(OrdinaryPool)
class OrdinaryPoolDescription(TypedDict):
    """One pool of machines without InfiniBand."""


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
    tags: NotRequired[dict[str, str]]
    """Of the pool, its scale set and its machines."""


class InfinibandNodePoolInputs(NodePoolInputs):
    """What an InfinibandNodePool takes."""

    pool: PoolDescription
    """The pool."""
    machines: NotRequired[MachinesDescription]
    """Properties of its machines that Azure is asked for."""
    begin: NotRequired[int]
    """Nodes with which an autoscaled pool begins. Default: the pool's count."""
    placement_group_limit: NotRequired[int]
    """Machines that the subscription may have in one placement group: 100, or up to 300 where Azure has raised it.
    Default: 100."""


class InfinibandNodePool(node_pool.InfinibandNodePool):
    """An AgentPool whose machines share one InfiniBand fabric, with exactly one owner of the GPU driver."""

    ready: pulumi.Output[Any]
    """ID of the pool in Azure, known once Azure says Succeeded."""

    def __init__(self, name: str, args: InfinibandNodePoolInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(node_pool.InfinibandNodePoolArgs, args), opts=opts)
        self.ready = self.ready.apply(_id)


class OrdinaryNodePoolInputs(NodePoolInputs):
    """What an OrdinaryNodePool takes."""

    pool: OrdinaryPoolDescription
    """The pool, with all that Azure is asked for of its machines."""


class OrdinaryNodePool(node_pool.OrdinaryNodePool):
    """An AgentPool without InfiniBand. Nothing of ours runs on it."""

    ready: pulumi.Output[Any]
    """ID of the pool in Azure, known once Azure says Succeeded."""

    def __init__(self, name: str, args: OrdinaryNodePoolInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(node_pool.OrdinaryNodePoolArgs, args), opts=opts)
        self.ready = self.ready.apply(_id)


def _id(made: Any) -> Any:
    return made.id
