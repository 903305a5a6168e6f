"""Azure's facts on a subscription and a region, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Literal

from aks_infiniband.facts.managed import Managed
from aks_infiniband.stack.settings.consistency.networks import RESERVED_IN_SUBNET

Progress = Literal["none", "running", "ended", "failed", "refused", "unread"]
"""The progress of a request. none: nothing was requested, or it may be requested again. refused: at once. unread: the
status of the operation cannot be read, so only the resource shows the end."""


@dataclass(frozen=True, kw_only=True)
class Subscription:
    """The subscription. state: such as Enabled, Warned or Disabled."""

    id: str
    name: str
    tenant: str
    state: str


@dataclass(frozen=True, kw_only=True)
class Permission:
    """Operations, with * for any part: what is permitted, and the exceptions from it."""

    actions: tuple[str, ...]
    exceptions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Role:
    """A role of a user."""

    name: str
    permissions: tuple[Permission, ...]


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A machine size in a region.

    vcpus: what one machine counts against the quota. zones: that have it. refused: the reason why the subscription gets
    none at all; None if it does. refused_zones: zones in which it gets none.
    """

    family: str
    vcpus: int
    zones: frozenset[str] = frozenset()
    refused: str | None = None
    refused_zones: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Usage:
    """vCPUs in use, and how many there may be."""

    current: int
    limit: int


@dataclass(frozen=True, kw_only=True)
class Machines:
    """The machines of a pool that is there already.

    image: their node image's version, as the pool has it. managed: what AKS manages there that this program would.
    """

    vm_size: str
    count: int
    image: str = ""
    managed: tuple[Managed, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Deployed:
    """The cluster of a stack that is deployed already. version: of Kubernetes, with its patch. pools: by name."""

    region: str
    version: str
    pools: Mapping[str, Machines]


@dataclass(frozen=True, kw_only=True)
class Network:
    """A virtual network that is there already."""

    id: str
    prefixes: tuple[IPv4Network, ...]


@dataclass(frozen=True, kw_only=True)
class Subnet:
    """A subnet that is there already. used: addresses that are taken."""

    id: str
    prefix: IPv4Network
    used: int

    @property
    def free(self) -> int:
        """Addresses that are left."""
        return self.prefix.num_addresses - RESERVED_IN_SUBNET - self.used


@dataclass(frozen=True, kw_only=True)
class Group:
    """A resource group that is there. resources: IDs of what is in it."""

    name: str
    managed_by: str
    resources: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """A role assignment on a subnet."""

    id: str
    name: str
    scope: str
    principal: str
    role: str
