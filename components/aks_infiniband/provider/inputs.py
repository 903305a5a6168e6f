"""What several components take, as a schema can describe it: no union, enumerations in place of literals."""

from typing import Any, NotRequired, TypedDict

import pulumi

from aks_infiniband.facts.baselines import GivenThreshold
from aks_infiniband.operators.release import DriverUpgrade
from aks_infiniband.provider.described import describes
from aks_infiniband.provider.enumerations import GpuDevicePlugin, GpuDirect, GpuDriver, Mode, NicDriver
from aks_infiniband.resources.options import Waits


class PoolDescription(TypedDict):
    """One pool of InfiniBand machines. Describe it once, and give it to every component that serves the pool."""

    name: str
    """Name of the pool: 1 to 12 lower-case letters and digits, a letter first."""
    vm_size: str
    """Azure VM size with InfiniBand, such as Standard_ND96isr_H100_v5."""
    count: int
    """Number of nodes."""
    mode: NotRequired[Mode]
    """How pods get InfiniBand. Default: rdma-shared."""
    nic_driver: NotRequired[NicDriver]
    """Whose mlx5 driver the nodes run. Default: that of the size."""
    gpu_driver: NotRequired[GpuDriver]
    """Who owns the driver of the GPUs. Default: that of the size."""
    gpu_device_plugin: NotRequired[GpuDevicePlugin]
    """Who runs the device plugin of the GPUs. Default: the node image where it has the driver, else the operator."""
    gpu_direct: NotRequired[GpuDirect]
    """How adapters reach the memory of GPUs. Default: nvidia-peermem beside doca-ofed, else dmabuf."""
    taints: NotRequired[list[str]]
    """As key=value:Effect. Everything that is put on the pool tolerates them."""
    node_selector: NotRequired[dict[str, str]]
    """Labels that the nodes of the pool carry, and no others. Default: AKS's own label of the pool."""
    ipoib_devices: NotRequired[list[str]]
    """In mode ipoib: parent interfaces of the networks, one a rail. Default: the first one of the size."""
    ipoib_networks: NotRequired[list[str]]
    """In mode ipoib: names of these networks. Default: aks-infiniband, or aks-infiniband- and the interface."""


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
