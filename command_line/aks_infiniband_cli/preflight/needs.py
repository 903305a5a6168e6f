"""A stack's needs of Azure, as plain data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network
from math import ceil
from typing import Final

from aks_infiniband.azure.machines import OrdinaryPool
from aks_infiniband.azure.profiles import SYSTEM_POOL
from aks_infiniband.facts.kubernetes import SupportPlan
from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.releases import DEFAULT_RELEASE, Release
from aks_infiniband.observability.documents import Prometheus
from aks_infiniband.stack.azure_cluster import AzureClusterArgs
from aks_infiniband.stack.settings.consistency.networks import ORDINARY_SURGE, SYSTEM_SURGE
from aks_infiniband.stack.stack import Stack

from aks_infiniband_cli.azure.answers import Deployed

PROVIDERS: Final = (
    "Microsoft.Authorization",
    "Microsoft.Compute",
    "Microsoft.ContainerService",
    "Microsoft.Features",
    "Microsoft.ManagedIdentity",
    "Microsoft.Network",
    "Microsoft.Resources",
)
"""Namespaces of what the program makes itself (components/aks_infiniband/azure) and of what AKS makes for it."""

_OF_ALERTS: Final = "Microsoft.AlertsManagement"


@dataclass(frozen=True, kw_only=True)
class MachinesNeeded:
    """The machines of one pool.

    count: at most; surge: further ones during an upgrade; there: those that are there already. validated: of how many
    a validation has the whole machine.
    """

    pool: str
    vm_size: str
    count: int
    surge: int
    zones: tuple[str, ...]
    there: int = 0
    validated: int = 0

    @property
    def added(self) -> int:
        """Machines that are to come, with those of an upgrade."""
        return max(self.count + self.surge - self.there, 0)


@dataclass(frozen=True, kw_only=True)
class Needs:
    """A stack's needs of Azure.

    feature: True if AKSInfinibandSupport must be registered; False if it must not be. network: the range that is made;
    None if subnets, by their given IDs, are there already. ranges: of pods and services, which no existing subnet may
    overlap. login: True if kubelogin logs in. new_identity: True if the cluster's identity is made. alerts: True if
    Azure Monitor gets any. prometheus: the one whose definitions the cluster must have. version_there: of Kubernetes,
    if the cluster is there already. release: of NVIDIA's operators. validation_seconds: the longest duration of one.
    """

    region: str
    group: str
    cluster: str
    machines: Sequence[MachinesNeeded]
    kubernetes_version: str
    support_plan: SupportPlan
    feature: bool
    network: IPv4Network | None
    subnets: tuple[str, ...]
    ranges: tuple[IPv4Network, ...]
    login: bool
    new_identity: bool
    validation_seconds: float
    version_there: str | None = None
    release: Release = DEFAULT_RELEASE
    alerts: bool = False
    prometheus: Prometheus | None = None

    @property
    def providers(self) -> tuple[str, ...]:
        """Namespaces that must be registered."""
        return (*PROVIDERS, _OF_ALERTS) if self.alerts else PROVIDERS

    def beyond(self, there: Deployed | None) -> "Needs":
        """The parts that are left to be made of a stack that is deployed already."""
        if there is None:
            return self
        return replace(self, machines=beyond(self.machines, there), version_there=there.version)


def beyond(machines: Sequence[MachinesNeeded], there: Deployed) -> list[MachinesNeeded]:
    """The same machines, with the number of those that are there already."""
    return [
        replace(needed, there=known.count)
        if (known := there.pools.get(needed.pool)) and known.vm_size.lower() == needed.vm_size.lower()
        else needed
        for needed in machines
    ]


def needs_of(stack: Stack) -> Needs | None:
    """The needs of a stack in Azure; None if its cluster is there already."""
    if not isinstance(stack.cluster, AzureClusterArgs):
        return None
    made, cluster = stack.cluster.cluster, stack.cluster.settings
    own, network = cluster.system_pool, cluster.network
    system = MachinesNeeded(
        pool=SYSTEM_POOL,
        vm_size=own.vm_size,
        count=own.count,
        surge=SYSTEM_SURGE,
        zones=own.zones,
    )
    subnets = [subnet for subnet in (network.node_subnet_id, network.pod_subnet_id) if subnet]
    ranges = [network.service_cidr, *(() if network.pod_subnet_id else (network.pod_cidr,))]
    validation, observability = stack.settings.validation, stack.settings.observability
    return Needs(
        region=made.location,
        group=made.resource_group_name,
        cluster=made.cluster_name,
        machines=[system, *(needed(pool, asked, validation.mode) for pool, asked in stack.cluster.pools)],
        kubernetes_version=cluster.kubernetes_version,
        release=stack.operators.release,
        support_plan=cluster.support_plan,
        feature=stack.cluster.feature is not None,
        network=None if network.node_subnet_id else network.address_space,
        subnets=tuple(subnets),
        ranges=tuple(ranges),
        login=cluster.access.entra_id,
        new_identity=cluster.identity_id is None,
        validation_seconds=validation.timeout_seconds,
        alerts=stack.cluster.alerts_in is not None,
        prometheus=observability.prometheus if observability else None,
    )


def needed(pool: Pool | OrdinaryPool, asked: OrdinaryPool, validation: str) -> MachinesNeeded:
    """The machines of one pool. `asked`: the pool as it is declared in Azure; validation: the mode."""
    count = asked.autoscale.max_count if asked.autoscale else asked.count
    return MachinesNeeded(
        pool=pool.name,
        vm_size=asked.vm_size,
        count=count,
        surge=0 if isinstance(pool, Pool) else ceil(count * ORDINARY_SURGE),
        validated=pool.node_count if isinstance(pool, Pool) and validation != "off" else 0,
        zones=asked.zones,
    )
