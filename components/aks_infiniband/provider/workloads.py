"""What workloads find, and what they may not do, for every language."""

from typing import TypedDict

import pulumi

from aks_infiniband.provider.arguments import taken
from aks_infiniband.provider.inputs import describes
from aks_infiniband.resources import registry
from aks_infiniband.workload import guard, pool_topology, settings


@describes(settings.WorkloadSettingsArgs)
class WorkloadSettingsInputs(TypedDict):
    """What WorkloadSettings take."""


class WorkloadSettings(settings.WorkloadSettings):
    """ConfigMaps with the environment of RDMA workloads, for envFrom, and with NCCL's topology, to be mounted."""

    def __init__(self, name: str, args: WorkloadSettingsInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(settings.WorkloadSettingsArgs, args), opts=opts)


@describes(guard.WorkloadGuardArgs)
class WorkloadGuardInputs(TypedDict):
    """What a WorkloadGuard takes."""


class WorkloadGuard(guard.WorkloadGuard):
    """What workloads may not do in their namespaces: all that Pod Security's baseline refuses, but for IPC_LOCK."""

    def __init__(self, name: str, args: WorkloadGuardInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(guard.WorkloadGuardArgs, args), opts=opts)


@describes(pool_topology.PoolTopologyArgs)
class PoolTopologyInputs(TypedDict):
    """What a PoolTopology takes."""


class PoolTopology(pool_topology.PoolTopology):
    """A pool as Kueue's topology-aware scheduling or Volcano reads it."""

    def __init__(self, name: str, args: PoolTopologyInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(pool_topology.PoolTopologyArgs, args), opts=opts)


@describes(registry.RegistryCredentialsArgs)
class RegistryCredentialsInputs(TypedDict):
    """What RegistryCredentials take."""


class RegistryCredentials(registry.RegistryCredentials):
    """The Secret with which images are pulled, in one namespace."""

    def __init__(self, name: str, args: RegistryCredentialsInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(registry.RegistryCredentialsArgs, args), opts=opts)
