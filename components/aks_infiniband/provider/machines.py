"""The components that Azure makes, for every language."""

from typing import Any, NotRequired, TypedDict

import pulumi

from aks_infiniband.azure import feature, node_pool
from aks_infiniband.azure.arguments import Machines
from aks_infiniband.provider.inputs import PoolDescription, pool_of


class FeatureRegistrationInputs(TypedDict):
    """What a FeatureRegistration takes."""

    location: str
    """Azure region in which Azure keeps the record of the deployment; the feature itself has none."""


class FeatureRegistration(feature.FeatureRegistration):
    """AKSInfinibandSupport, Registered in the subscription, and AKS told of it. It outlives the stack."""

    registered: pulumi.Output[Any]
    """ID of what registers it, known once the feature is Registered."""

    def __init__(self, name: str, args: FeatureRegistrationInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=feature.FeatureRegistrationArgs(location=args["location"]), opts=opts)
        self.registered = self.registered.apply(_id)


class InfinibandNodePoolInputs(TypedDict):
    """What an InfinibandNodePool takes."""

    pool: PoolDescription
    """The pool."""
    resource_group_name: pulumi.Input[str]
    """Resource group of the cluster."""
    cluster_name: pulumi.Input[str]
    """Name of the managed cluster."""
    subnet_id: NotRequired[pulumi.Input[str]]
    """The subnet of the nodes. Leave it out where the cluster is in the network that AKS made for it."""
    kubernetes_version: NotRequired[pulumi.Input[str]]
    """Version of the nodes. Default: the cluster's when the pool is made."""
    labels: NotRequired[dict[str, str]]
    """Further labels of the nodes."""
    zones: NotRequired[list[str]]
    """At most one availability zone. Default: wherever there is capacity."""
    tags: NotRequired[dict[str, str]]
    """Of the pool, its scale set and its machines."""


class InfinibandNodePool(node_pool.InfinibandNodePool):
    """An AgentPool whose machines share one InfiniBand fabric, with exactly one owner of the GPU driver."""

    ready: pulumi.Output[Any]
    """ID of the pool in Azure, known once Azure says Succeeded."""
    node_selector: dict[str, str]
    """The label that the nodes of the pool carry, and no others."""

    def __init__(self, name: str, args: InfinibandNodePoolInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        given = node_pool.InfinibandNodePoolArgs(
            pool=pool_of(args["pool"]),
            resource_group_name=args["resource_group_name"],
            cluster_name=args["cluster_name"],
            subnet_id=args.get("subnet_id"),
            kubernetes_version=args.get("kubernetes_version"),
            machines=Machines(labels=args.get("labels", {}), zones=args.get("zones", ())),
            tags=args.get("tags", {}),
        )
        super().__init__(name, args=given, opts=opts)
        self.ready = self.ready.apply(_id)


def _id(made: Any) -> Any:
    return made.id
