"""What several components take, as a schema can describe it: no union, enumerations in place of literals."""

from typing import Any, NotRequired, TypedDict

import pulumi

from aks_infiniband.azure.machines import AskedPool
from aks_infiniband.facts.baselines import GivenThreshold
from aks_infiniband.facts.pool import Pool
from aks_infiniband.operators.release import DriverUpgrade
from aks_infiniband.provider.described import describes
from aks_infiniband.resources.options import Waits


@describes(AskedPool, Pool, without=("size", "node_count"))
class PoolDescription(TypedDict):
    """One pool of InfiniBand machines. Describe it once, and give it to every component that serves the pool."""


class ChartDescription(TypedDict):
    """A Helm chart from another place. What is left out stays as its makers have it."""

    name: NotRequired[str]
    """Its name in the repository, an oci:// address, or a path."""
    repository: NotRequired[str]
    """URL of the repository."""
    version: NotRequired[str]
    """Its version."""


class RegistryDescription(TypedDict):
    """A registry that mirrors every image under the path that it has at its source."""

    images: NotRequired[str]
    """Registry, with a path or without. Default: every image from where its makers publish it."""
    pull_secret: NotRequired[str]
    """Name of the Secret that pods pull with, such as that of RegistryCredentials. Default: none."""


@describes(Waits)
class WaitsDescription(TypedDict):
    """How long is waited, and how often is looked."""


@describes(DriverUpgrade)
class UpgradeDescription(TypedDict):
    """How a changed driver reaches the nodes: one at a time, each drained first."""


@describes(GivenThreshold)
class ThresholdDescription(TypedDict):
    """Bounds of one measured figure, in its unit."""


class WaitInputs(TypedDict):
    """What every component takes that waits for something in the cluster."""

    kubeconfig: NotRequired[pulumi.Input[str]]
    """With it a failed wait is explained."""
    timeout_seconds: NotRequired[float]
    """How long what is made may take to become ready. Default: 2700."""


class OperatorInputs(WaitInputs):
    """What all operators take."""

    pools: list[PoolDescription]
    """All pools with InfiniBand of the cluster."""
    chart: NotRequired[ChartDescription]
    """The chart. Default: that of its makers."""
    values: NotRequired[dict[str, Any]]
    """Further Helm values. A value that contradicts what follows from the pools is refused."""
    system_node_selector: NotRequired[dict[str, str]]
    """Labels of the nodes that carry the operator. Default: AKS's label of system pools. Empty: any node of no pool."""
    registry: NotRequired[RegistryDescription]
    """Where images come from. Default: from where their makers publish them."""
    registry_credentials: NotRequired[pulumi.Input[str]]
    """A Docker configuration (JSON), which the operator's namespace gets as the Secret aks-infiniband-registry."""
