"""The settings and the guard of workloads, for every language."""

from typing import TypedDict

import pulumi

from aks_infiniband.provider.arguments import taken
from aks_infiniband.provider.inputs import describes
from aks_infiniband.resources import registry
from aks_infiniband.workload import guard, pool_topology, settings


@describes(settings.WorkloadSettingsArgs)
class WorkloadSettingsInputs(TypedDict):
    """The inputs of WorkloadSettings."""


class WorkloadSettings(settings.WorkloadSettings):
    """ConfigMaps with the environment of RDMA workloads, for envFrom, and with NCCL's topology, to be mounted."""

    def __init__(self, name: str, args: WorkloadSettingsInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(settings.WorkloadSettingsArgs, args), opts=opts)


@describes(guard.WorkloadGuardArgs)
class WorkloadGuardInputs(TypedDict):
    """The arguments of a WorkloadGuard."""


class WorkloadGuard(guard.WorkloadGuard):
    """The guard of workloads' namespaces: it refuses all that Pod Security's baseline refuses, except IPC_LOCK."""

    def __init__(self, name: str, args: WorkloadGuardInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(guard.WorkloadGuardArgs, args), opts=opts)


@describes(pool_topology.PoolTopologyArgs)
class PoolTopologyInputs(TypedDict):
    """The arguments of a PoolTopology."""


class PoolTopology(pool_topology.PoolTopology):
    """A pool as Kueue's topology-aware scheduling or Volcano reads it."""

    def __init__(self, name: str, args: PoolTopologyInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(pool_topology.PoolTopologyArgs, args), opts=opts)


@describes(registry.RegistryCredentialsArgs)
class RegistryCredentialsInputs(TypedDict):
    """The arguments of RegistryCredentials."""


class RegistryCredentials(registry.RegistryCredentials):
    """The Secret with which images are pulled, in one namespace."""

    def __init__(self, name: str, args: RegistryCredentialsInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(registry.RegistryCredentialsArgs, args), opts=opts)
