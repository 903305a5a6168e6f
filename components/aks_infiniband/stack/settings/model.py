"""Everything under `aks-infiniband:*` in a stack file, as frozen models."""

from ipaddress import IPv4Network
from typing import Annotated

from pydantic import Field

from aks_infiniband.facts.catalog import GpuDriver, MachineSize, Mode, NicDriver
from aks_infiniband.stack.settings import resolve, rules
from aks_infiniband.stack.settings.base import Section, Text
from aks_infiniband.stack.settings.cluster import ClusterSettings, ExistingClusterSettings
from aks_infiniband.stack.settings.operators import (
    GpuOperatorSettings,
    NetworkOperatorSettings,
    Readiness,
    RegistrySettings,
    ValidationSettings,
    WorkloadNamespaces,
)
from aks_infiniband.stack.settings.pools import DescribedSize, OsSku, PoolSettings


class Settings(Section):
    """Everything that a stack file says: a cluster to be made, or an existing one, and its pools.

    Its methods say what a pool is in the end: its own setting, else the stack's, else what follows from its size.
    """

    location: Text | None = None
    """Azure region: the stack's `azure-native:location`. Needed for a cluster that is made."""
    cluster: ClusterSettings | None = None
    """The AKS cluster that is made. Either this or existingCluster."""
    existing_cluster: ExistingClusterSettings | None = None
    """A cluster that is there already."""
    pools: Annotated[tuple[PoolSettings, ...], Field(min_length=1)]
    """The pools of machines."""
    sizes: dict[Annotated[str, rules.vm_size], DescribedSize] = Field(default_factory=dict)
    """Machine sizes that the catalogue does not know, by their Azure name."""
    network_operator: NetworkOperatorSettings = NetworkOperatorSettings()
    gpu_operator: GpuOperatorSettings = GpuOperatorSettings()
    registry: RegistrySettings = RegistrySettings()
    workload: WorkloadNamespaces = WorkloadNamespaces()
    readiness: Readiness = Readiness()
    validation: ValidationSettings = ValidationSettings()

    @property
    def infiniband_pools(self) -> tuple[PoolSettings, ...]:
        """The pools with InfiniBand."""
        return tuple(pool for pool in self.pools if pool.infiniband)

    def size(self, pool: PoolSettings) -> MachineSize:
        """The machine size of a pool with InfiniBand."""
        return resolve.known_sizes(self.sizes)[pool.vm_size]

    def mode(self, pool: PoolSettings) -> Mode:
        """How the pods of a pool with InfiniBand get it."""
        return pool.mode or self.network_operator.mode

    def nic_driver(self, pool: PoolSettings) -> NicDriver:
        """Whose mlx5 driver a pool with InfiniBand runs."""
        return pool.nic_driver or self.network_operator.driver

    def gpu_driver(self, pool: PoolSettings) -> GpuDriver:
        """Who owns the GPUs' driver of any pool."""
        return resolve.gpu_driver(pool.gpu_driver, self.size(pool) if pool.infiniband else None)

    def keeps_gpu_operator_off(self, pool: PoolSettings) -> bool:
        """Whether the nodes of any pool need the label resolve.GPU_OPERATOR_OFF where a GPU Operator runs."""
        size = self.size(pool) if pool.infiniband else None
        return resolve.keeps_gpu_operator_off(self.gpu_driver(pool), size, pool.vm_size)

    def os_sku(self, pool: PoolSettings) -> OsSku:
        """The OS SKU of any pool in Azure."""
        return resolve.os_sku(pool.os_sku, self.size(pool) if pool.infiniband else None, self.nic_driver(pool))

    def ipoib_devices(self, pool: PoolSettings) -> tuple[str, ...]:
        """The parent interfaces of a pool's IPoIB networks, for net1, net2, …; none but in mode ipoib."""
        if not pool.infiniband or self.mode(pool) != "ipoib":
            return ()
        return resolve.ipoib_devices(pool, self.size(pool), self.network_operator.ipoib.rails)

    def ipoib_ranges(self) -> dict[str, IPv4Network]:
        """The addresses of each IPoIB network, by its parent interface, in the order of the pools."""
        devices = [device for pool in self.pools for device in self.ipoib_devices(pool)]
        return resolve.ipoib_ranges(self.network_operator.ipoib.range, devices)
