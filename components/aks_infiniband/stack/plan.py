"""From the settings to the plain facts on which everything is built: the InfiniBand pools, the cluster's name."""

import pulumi

from aks_infiniband.azure.node_pool import node_selector
from aks_infiniband.facts.pool import Pool, toleration
from aks_infiniband.operators.ipoib import network_name
from aks_infiniband.stack.settings import Mistake, PoolSettings, Settings, SettingsError, rules
from aks_infiniband.workload import topology


def pools_of(settings: Settings) -> list[Pool]:
    """The InfiniBand pools of a stack, in its order."""
    return [_pool(settings, given) for given in settings.infiniband_pools]


def cluster_name(settings: Settings) -> str:
    """The name in Azure of the cluster that is made: the one given, else after project and stack.

    Raises SettingsError where Azure would refuse the latter.
    """
    if settings.cluster is not None and settings.cluster.name is not None:
        return settings.cluster.name
    name = f"{pulumi.get_project()}-{pulumi.get_stack()}"
    try:
        return rules.resource_name(name)
    except ValueError as error:
        reason = f"is {name!r} where nothing else is given, after project and stack; {error}: give it a name"
        raise SettingsError((Mistake(key="aks-infiniband:cluster.name", reason=reason),)) from error


def topologies_of(settings: Settings) -> dict[str, str]:
    """The NCCL topology files that people gave, their content by pool.

    Raises SettingsError for a file that is not there, or is no topology file.
    """
    found: dict[str, str] = {}
    mistakes: list[Mistake] = []
    for index, pool in enumerate(settings.pools):
        if pool.nccl_topology is None:
            continue
        try:
            found[pool.name] = topology.read(pool.nccl_topology)
        except ValueError as error:
            key = f"aks-infiniband:pools[{index}].ncclTopology"
            mistakes.append(Mistake(key=key, reason=f"is {pool.nccl_topology!r}; {error}"))
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return found


def _pool(settings: Settings, given: PoolSettings) -> Pool:
    devices = settings.ipoib_devices(given)
    return Pool(
        name=given.name,
        size=settings.size(given),
        # Of an autoscaled pool what it always has: to ask for more would make the autoscaler start machines.
        node_count=given.autoscale.min_count if given.autoscale else given.count,
        node_selector=given.node_selector if settings.existing_cluster else node_selector(given.name),
        tolerations=tuple(toleration(taint) for taint in given.taints),
        mode=settings.mode(given),
        nic_driver=settings.nic_driver(given),
        gpu_driver=settings.gpu_driver(given),
        ipoib_networks=tuple(network_name(device) for device in devices),
        ipoib_devices=devices,
    )
