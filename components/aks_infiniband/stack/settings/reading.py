"""A stack file and what follows from it.

The rules and the composition read the same objects. After a reading with holes, everything that follows from a value
that is not well-formed raises Unreadable.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from aks_infiniband.facts.azure_names import REGIONS
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.described import described
from aks_infiniband.facts.catalog.machine import MachineSize, OsSku
from aks_infiniband.facts.kubernetes import minor_of
from aks_infiniband.facts.pool import LARGEST_PLACEMENT_GROUP, Pool, PoolProperties, agent_pool_label
from aks_infiniband.handwritten.section import HOLE, Unreadable
from aks_infiniband.stack.settings.cluster import AdoptedPool, ClusterSettings
from aks_infiniband.stack.settings.mistakes import Mistake, Path, wrong
from aks_infiniband.stack.settings.model import Settings
from aks_infiniband.stack.settings.pools import PoolSettings

Value = TypeVar("Value")


@dataclass(frozen=True)
class PoolReading:
    """One pool of a stack file."""

    index: int
    given: PoolSettings
    stack: "Reading"

    def path(self, *key: str | int) -> Path:
        """The place of a value of the pool."""
        return ("pools", self.index, *key)

    @property
    def name(self) -> str:
        """The name by which an error names the pool."""
        try:
            return self.given.name
        except Unreadable:
            return f"pools[{self.index}]"

    @property
    def infiniband(self) -> bool:
        return self.given.infiniband

    @property
    def adopted(self) -> AdoptedPool | None:
        """Properties in Azure of a pool that was taken over; None for any other."""
        return self.stack.adopted.get(self.name)

    @property
    def known_by(self) -> Mapping[str, str]:
        """The labels by which its nodes are known in an existing cluster."""
        return self.node_selector or (agent_pool_label(self.given.name) if self.adopted else {})

    @property
    def most_nodes(self) -> int:
        """Nodes that the pool can have."""
        bounds = self.given.autoscale
        return self.given.count if bounds is None else max(self.given.count, bounds.max_count)

    @property
    def node_count(self) -> int:
        """The number of nodes that the pool always has: a larger request would make the autoscaler start machines."""
        bounds = self.given.autoscale
        return self.given.count if bounds is None else bounds.min_count

    @cached_property
    def facts(self) -> Pool:
        """The facts of a pool with InfiniBand, from which everything on it is built: its own statements, else the
        stack's for all pools, else the consequences of its size. Raises Unreadable for what is not well-formed.
        """
        given, of_all = self.given, self.stack.of_all_pools
        own = {name: readable(given, name) for name in PoolProperties.model_fields if name in given.model_fields_set}
        size = readable(self, "known_size")
        return Pool.with_holes({**of_all, **own, "size": size, "node_count": readable(self, "node_count")})

    @property
    def known_size(self) -> MachineSize:
        """Raises Unreadable for an unknown size."""
        return self.stack.size(self.given.vm_size)

    @property
    def node_selector(self) -> Mapping[str, str]:
        """The one that it gives."""
        return self.given.said("node_selector") or {}

    @property
    def ipoib_devices(self) -> tuple[str, ...]:
        """The devices that it names."""
        return self.given.said("ipoib_devices") or ()

    @property
    def kubernetes_version(self) -> str:
        """Version of its nodes, in a cluster that is made; Unreadable in any other."""
        return self.given.kubernetes_version or self.stack.cluster.kubernetes_version

    @property
    def os_sku(self) -> OsSku:
        return self.given.os_sku

    @property
    def placement_group_limit(self) -> int:
        """The most machines on one fabric. For an existing cluster it is the most that Azure grants to any
        subscription.
        """
        return self.stack.cluster.placement_group_limit if self.stack.in_azure else LARGEST_PLACEMENT_GROUP


@dataclass(frozen=True)
class Reading:
    """The settings of one stack file."""

    settings: Settings

    @cached_property
    def pools(self) -> tuple[PoolReading, ...]:
        try:
            declared = self.settings.pools
        except Unreadable:
            return ()
        return tuple(PoolReading(index, pool, self) for index, pool in enumerate(declared))

    @cached_property
    def of_all_pools(self) -> dict[str, Any]:
        """The stack's values for all pools that say nothing themselves, by the property of a pool."""
        operator = readable(self.settings, "network_operator")
        values = {"mode": readable(operator, "mode"), "nic_driver": readable(operator, "driver")}
        return {**values, "ipoib_rails": readable(readable(operator, "ipoib"), "rails")}

    @cached_property
    def infiniband_pools(self) -> list[PoolReading]:
        """The pools with InfiniBand; a pool whose key `infiniband` cannot be read is left out."""
        return [pool for pool, infiniband in known(self.pools, lambda pool: pool.infiniband) if infiniband]

    @cached_property
    def regions(self) -> Mapping[str, Sequence[str]]:
        """The table's and those that the file names, each with its availability zones."""
        return {**REGIONS, **self.settings.regions}

    @cached_property
    def sizes(self) -> Mapping[str, MachineSize]:
        """The sizes of the catalogue, and the described sizes that are well-formed."""
        declared = self.settings.sizes.items()
        own = known(declared, lambda item: described(item[0], item[1].whole()))
        return {**{name: size for (name, _), size in own}, **SIZES}

    def size(self, name: str) -> MachineSize:
        """Raises Unreadable for one that is not known, or not well described."""
        if name in SIZES:
            return SIZES[name]
        if name not in self.sizes:
            raise Unreadable(name)
        return self.sizes[name]

    @property
    def in_azure(self) -> bool:
        """True if the pools are made in Azure, and not if an existing cluster is named."""
        return self.settings.existing_cluster is None

    @property
    def in_existing(self) -> bool:
        """True if the pools are in a cluster that exists, and not if the stack file wrongly has one made too."""
        return not self.in_azure and self.settings.cluster is None

    @cached_property
    def adopted(self) -> Mapping[str, AdoptedPool]:
        """The pools of an existing cluster that were taken over, by name."""
        try:
            aks = self.settings.existing_cluster and self.settings.existing_cluster.aks
            return aks.node_pools if aks else {}
        except Unreadable:
            return {}

    @property
    def cluster(self) -> ClusterSettings:
        """The cluster that is made; Unreadable if none is."""
        if self.settings.cluster is None:
            raise Unreadable("cluster")
        return self.settings.cluster

    @property
    def kubernetes(self) -> tuple[int, int]:
        """Version of the cluster that is made; Unreadable for any other."""
        return minor_of(self.cluster.kubernetes_version)


Subject = TypeVar("Subject")


def readable(holder: Any, name: str) -> Any:
    """A value of a section; HOLE if it, or the section, cannot be read."""
    try:
        return HOLE if holder is HOLE else getattr(holder, name)
    except Unreadable:
        return HOLE


def known(subjects: Iterable[Subject], read: Callable[[Subject], Value]) -> list[tuple[Subject, Value]]:
    """Each subject with the value that is read from it. Subjects whose value cannot be read are left out."""
    pairs = []
    for subject in subjects:
        try:
            pairs.append((subject, read(subject)))
        except Unreadable:
            continue
    return pairs


def unlike_the_first(
    pairs: Sequence[tuple[PoolReading, Value]],
) -> Iterator[tuple[PoolReading, Value, PoolReading, Value]]:
    """Pools that differ from the first in a value that all share. Yields pool and value, then those of the first."""
    for pool, value in pairs[1:]:
        first, wanted = pairs[0]
        if value != wanted:
            yield pool, value, first, wanted


def listed_once(path: Path, values: Sequence[str]) -> Iterator[Mistake]:
    """Values of a list that stand in it already."""
    for place, value in enumerate(values):
        if value in values[:place]:
            yield wrong((*path, place), value, "must be listed once")
