"""What workloads find, and what they may not do, for every language."""

from typing import NotRequired, TypedDict

import pulumi

from aks_infiniband.provider.arguments import taken
from aks_infiniband.provider.enumerations import Scheduler
from aks_infiniband.provider.inputs import PoolDescription
from aks_infiniband.resources import registry
from aks_infiniband.workload import guard, pool_topology, settings


class WorkloadSettingsInputs(TypedDict):
    """What WorkloadSettings take."""

    pools: list[PoolDescription]
    """The pools on which workloads run."""
    namespaces: NotRequired[list[str]]
    """Namespaces of workloads, which have to exist. Default: aks-infiniband."""
    topologies: NotRequired[dict[str, str]]
    """By name of a pool, the content of an NCCL topology file in place of that of the size."""


class WorkloadSettings(settings.WorkloadSettings):
    """ConfigMaps with the environment of RDMA workloads, for envFrom, and with NCCL's topology, to be mounted."""

    def __init__(self, name: str, args: WorkloadSettingsInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(settings.WorkloadSettingsArgs, args), opts=opts)


class WorkloadGuardInputs(TypedDict):
    """What a WorkloadGuard takes."""

    namespaces: NotRequired[list[str]]
    """The namespaces that it guards. None of the system's or an operator's. Default: aks-infiniband."""
    name: NotRequired[str]
    """Name of the policy and of its binding in the cluster. Default: aks-infiniband-workloads."""


class WorkloadGuard(guard.WorkloadGuard):
    """What workloads may not do in their namespaces: all that Pod Security's baseline refuses, but for IPC_LOCK."""

    def __init__(self, name: str, args: WorkloadGuardInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(guard.WorkloadGuardArgs, args), opts=opts)


class PoolTopologyInputs(TypedDict):
    """What a PoolTopology takes."""

    pool: PoolDescription
    """The pool, which is one fabric."""
    scheduler: NotRequired[Scheduler]
    """Who places jobs. The cluster must have its definitions already. Default: kueue."""
    levels: NotRequired[list[str]]
    """For Kueue: labels of nodes for what is nearer than the fabric, such as a rack, the widest first."""


class PoolTopology(pool_topology.PoolTopology):
    """A pool as Kueue's topology-aware scheduling or Volcano reads it."""

    def __init__(self, name: str, args: PoolTopologyInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(pool_topology.PoolTopologyArgs, args), opts=opts)


class RegistryCredentialsInputs(TypedDict):
    """What RegistryCredentials take."""

    namespace: pulumi.Input[str]
    """Where pods are to pull with them. It has to exist."""
    docker_config: pulumi.Input[str]
    """A Docker configuration (JSON)."""


class RegistryCredentials(registry.RegistryCredentials):
    """The Secret with which images are pulled, in one namespace."""

    def __init__(self, name: str, args: RegistryCredentialsInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(registry.RegistryCredentialsArgs, args), opts=opts)
