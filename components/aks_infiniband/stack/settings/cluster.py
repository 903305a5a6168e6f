"""Settings of the cluster: one that is made in Azure, or one that others made."""

from typing import Annotated, Literal

from pydantic import Field

from aks_infiniband.azure.arguments import Cluster, Tags
from aks_infiniband.facts import rules
from aks_infiniband.facts.pool import LARGEST_PLACEMENT_GROUP, PLACEMENT_GROUP_LIMIT
from aks_infiniband.facts.rules import Labels, Text
from aks_infiniband.handwritten.section import Section


class ClusterSettings(Cluster):
    """The AKS cluster and what it stands in."""

    name: Annotated[str, rules.resource_name] | None = None
    """Name of the cluster in Azure. Default: the names of the project and the stack, such as aks-infiniband-dev. A
    change replaces the cluster."""
    resource_group: Annotated[str, rules.resource_group_name] | None = None
    """Name of the resource group that is made for the cluster. Default: the cluster's name. A change replaces the
    cluster."""
    placement_group_limit: int = Field(
        default=PLACEMENT_GROUP_LIMIT, ge=PLACEMENT_GROUP_LIMIT, le=LARGEST_PLACEMENT_GROUP, strict=True
    )
    """The most machines that the subscription may have in one placement group, and so on one InfiniBand fabric. Azure
    raises it from 100 by a support request; raise it here too once that was granted."""
    pool_operations: Literal["parallel", "serial"] = "parallel"
    """parallel: pools are created, changed and deleted at the same time; serial: one at a time."""


class AdoptedPool(Section):
    """Properties in Azure of a node pool that the stack has taken over, without a key of a pool.
    `aks-infiniband adopt` writes it. A change of a subnet replaces the pool, which Pulumi refuses, because the pool is
    protected.
    """

    subnet_id: Annotated[str, rules.subnet_id] | None = None
    """The nodes' subnet. Default: the cluster is in the network that AKS made for it."""
    pod_subnet_id: Annotated[str, rules.subnet_id] | None = None
    """The pods' subnet. Default: the overlay."""
    tags: Tags = Field(default_factory=dict)
    """Tags of the pool and its machines."""


class ExistingAks(Section):
    """The AKS cluster that an existing cluster is, and those of its node pools that the stack has taken over.

    Pulumi changes these pools as it changes pools that it has made. Pulumi neither creates nor deletes one: a pool
    comes into the stack by `pulumi import` alone, and is protected.
    """

    resource_group: Annotated[str, rules.resource_group_name]
    """Resource group of the cluster."""
    name: Annotated[str, rules.resource_name]
    """Name of the cluster in Azure."""
    node_pools: dict[Annotated[str, rules.pool_name], AdoptedPool] = Field(min_length=1)
    """The node pools that are taken over, by their name under aks-infiniband:pools."""


class ExistingClusterSettings(Section):
    """A cluster that others made and keep: AKS, Cluster API on Azure, any other. No Azure resource is made."""

    kubeconfig: Text = "~/.kube/config"
    """Path of the kubeconfig; relative to the project, ~ is the home folder."""
    context: Text | None = None
    """Context in it. Default: its current one."""
    system_node_selector: Labels = Field(default_factory=dict)
    """Labels of the nodes that carry the operators. Default: any node that is not of an InfiniBand pool
    below."""
    aks: ExistingAks | None = None
    """The cluster in Azure, if the stack has taken over some of its node pools. Default: the stack has taken over none,
    and knows nodes by their labels."""
