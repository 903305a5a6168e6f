"""The components that Azure makes in addition to the cluster, for every language: the feature, and pools of
machines.
"""

from typing import Any, TypedDict

import pulumi

from aks_infiniband.azure import feature, node_pool
from aks_infiniband.azure.machines import Autoscale, Machines, OrdinaryPool
from aks_infiniband.provider.arguments import taken
from aks_infiniband.provider.inputs import describes


@describes(feature.FeatureRegistrationArgs)
class FeatureRegistrationInputs(TypedDict):
    """The inputs of a FeatureRegistration."""


class FeatureRegistration(feature.FeatureRegistration):
    """AKSInfinibandSupport, Registered in the subscription, and AKS told of it. The registration outlives the stack."""

    registered: pulumi.Output[Any]
    """ID of what registers it, known once the feature is Registered."""

    def __init__(self, name: str, args: FeatureRegistrationInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(feature.FeatureRegistrationArgs, args), opts=opts)
        self.registered = self.registered.apply(_id)


class FeatureAbsenceInputs(TypedDict):
    """The inputs of a FeatureAbsence: nothing. The subscription is that of the provider."""


class FeatureAbsence(feature.FeatureAbsence):
    """AKSInfinibandSupport, not registered in the subscription, and AKS told of it: for GB200 and GB300."""

    absent: pulumi.Output[Any]
    """ID of the resource that informs AKS. The ID is known once the feature was found absent."""

    def __init__(self, name: str, args: FeatureAbsenceInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(feature.FeatureAbsenceArgs, args), opts=opts)
        self.absent = self.absent.apply(_id)


@describes(Autoscale)
class AutoscaleDescription(TypedDict):
    """Bounds of the cluster autoscaler."""


@describes(Machines)
class MachinesDescription(TypedDict):
    """Properties of a pool of any kind that a user may choose."""


@describes(OrdinaryPool)
class OrdinaryPoolDescription(TypedDict):
    """One pool of machines without InfiniBand."""


@describes(node_pool.InfinibandNodePoolArgs)
class InfinibandNodePoolInputs(TypedDict):
    """The inputs of an InfinibandNodePool."""


class InfinibandNodePool(node_pool.InfinibandNodePool):
    """An AgentPool whose machines share one InfiniBand fabric, with exactly one owner of the GPU driver."""

    ready: pulumi.Output[Any]
    """ID of the pool in Azure, known once Azure says Succeeded."""

    def __init__(self, name: str, args: InfinibandNodePoolInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(node_pool.InfinibandNodePoolArgs, args), opts=opts)
        self.ready = self.ready.apply(_id)


@describes(node_pool.OrdinaryNodePoolArgs)
class OrdinaryNodePoolInputs(TypedDict):
    """The inputs of an OrdinaryNodePool."""


class OrdinaryNodePool(node_pool.OrdinaryNodePool):
    """An AgentPool without InfiniBand. Nothing of ours runs on it."""

    ready: pulumi.Output[Any]
    """ID of the pool in Azure, known once Azure says Succeeded."""

    def __init__(self, name: str, args: OrdinaryNodePoolInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(node_pool.OrdinaryNodePoolArgs, args), opts=opts)
        self.ready = self.ready.apply(_id)


def _id(made: Any) -> Any:
    return made.id
