"""Settings as the checks see them: whole, or with holes where a value is missing or not well-formed."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from aks_infiniband.facts.catalog import GpuDriver, MachineSize, Mode, NicDriver
from aks_infiniband.facts.kubernetes import minor_of
from aks_infiniband.stack.settings import resolve
from aks_infiniband.stack.settings.cluster import ClusterSettings
from aks_infiniband.stack.settings.model import Settings
from aks_infiniband.stack.settings.operators import NetworkOperatorSettings
from aks_infiniband.stack.settings.pools import OsSku, PoolSettings


class Inconsistency(NamedTuple):
    """A value that does not go together with another."""

    path: tuple[str | int, ...]
    """Below our namespace."""
    value: Any
    """As the stack file has it; None where it is missing."""
    reason: str


@dataclass(frozen=True)
class SeenPool:
    """One pool; what follows from a value that is not well-formed is None."""

    index: int
    given: PoolSettings
    seen: "Seen"

    def path(self, *key: str | int) -> tuple[str | int, ...]:
        return ("pools", self.index, *key)

    def sound(self, *keys: str) -> bool:
        return not any(self.seen.is_wrong(*self.path(key)) for key in keys)

    @property
    def name(self) -> str:
        """What an author recognises the pool by."""
        return self.given.name or f"pools[{self.index}]"

    @property
    def infiniband(self) -> bool:
        return self.given.infiniband is not False

    @property
    def count(self) -> int | None:
        return self.given.count

    @property
    def most_nodes(self) -> int | None:
        """None where count or the autoscaler's bound is unknown."""
        if self.given.count is None or not self.sound("autoscale"):
            return None
        return self.given.most_nodes

    @property
    def size(self) -> MachineSize | None:
        return self.seen.sizes.get(self.given.vm_size) if self.infiniband else None

    @property
    def mode(self) -> Mode | None:
        operator = self.seen.network_operator
        default = operator.mode if operator is not None else None
        return (self.given.mode or default) if self.sound("mode") else None

    @property
    def nic_driver(self) -> NicDriver | None:
        operator = self.seen.network_operator
        default = operator.driver if operator is not None else None
        return (self.given.nic_driver or default) if self.sound("nicDriver") else None

    @property
    def gpu_driver(self) -> GpuDriver | None:
        if not self.sound("gpuDriver") or (self.infiniband and self.size is None):
            return None
        return resolve.gpu_driver(self.given.gpu_driver, self.size)

    @property
    def os_sku(self) -> OsSku | None:
        if not self.sound("osSku") or self.nic_driver is None or (self.infiniband and self.size is None):
            return None
        return resolve.os_sku(self.given.os_sku, self.size, self.nic_driver)

    @property
    def ipoib_devices(self) -> tuple[str, ...] | None:
        """None where they cannot be told."""
        operator = self.seen.network_operator
        if not self.sound("ipoibDevices") or self.size is None or not operator or not operator.ipoib:
            return None
        return resolve.ipoib_devices(self.given, self.size, operator.ipoib.rails or 1)


@dataclass(frozen=True)
class Seen:
    """The settings of one stack file."""

    settings: Settings
    wrong: Collection[tuple[str | int, ...]] = ()
    """Paths of what is not well-formed."""

    def is_wrong(self, *path: str | int) -> bool:
        """Whether the value there, or anything in it, is not well-formed."""
        return any(one[: len(path)] == path for one in self.wrong)

    @cached_property
    def pools(self) -> tuple[SeenPool, ...]:
        given = self.settings.pools or ()
        return tuple(SeenPool(index, pool, self) for index, pool in enumerate(given) if pool is not None)

    @property
    def infiniband_pools(self) -> Iterator[SeenPool]:
        return (pool for pool in self.pools if pool.infiniband)

    @cached_property
    def sizes(self) -> dict[str, MachineSize]:
        """By name; of the described ones, those that are well-formed."""
        whole = {name: size for name, size in (self.settings.sizes or {}).items() if not self.is_wrong("sizes", name)}
        return resolve.known_sizes(whole)

    @property
    def network_operator(self) -> NetworkOperatorSettings | None:
        return self.settings.network_operator

    @property
    def cluster(self) -> ClusterSettings | None:
        return self.settings.cluster

    @property
    def in_azure(self) -> bool:
        """Whether the pools are made in Azure: not where somebody else's cluster is named."""
        return self.settings.existing_cluster is None and not self.is_wrong("existingCluster")

    @property
    def kubernetes(self) -> tuple[int, int] | None:
        """Version of the cluster that is made."""
        version = self.cluster and self.cluster.kubernetes_version
        return minor_of(version) if version else None
