"""The simulated subscription and its offers: typed, read from `subscription.yaml` or a file of the same shape."""

from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Final, Literal, Self, TypeVar

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import Architecture, MachineSize
from aks_infiniband.handwritten import HandwrittenError, first_lines, place, read
from aks_infiniband.handwritten.form import told
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from rehearsal.azure.subscription_faults import Fault

SUBSCRIPTION_VARIABLE: Final = "AKS_INFINIBAND_SUBSCRIPTION"
"""Environment variable that names the file of another simulated subscription."""
DEFAULT_FILE: Final = Path(__file__).with_name("subscription.yaml")

FeatureState = Literal["NotRegistered", "Pending", "Registering", "Registered", "Unregistering", "Unregistered"]
_Count = Annotated[int, Field(ge=0)]
_Version = Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$")]


def _addresses(prefix: str) -> str:
    return str(ip_network(prefix))  # raises ValueError


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel)


class Series(_Data):
    """A family of sizes that share a quota. vcpus: the quota per region; regions: that offer it, all when empty.

    temporary_disk_gib: of every size in it, for an ephemeral OS disk; None if it is not known.
    """

    family: str
    vcpus: _Count
    regions: tuple[str, ...] = ()
    temporary_disk_gib: int | None = None


class Size(_Data):
    """A machine size without InfiniBand. gpus: NVIDIA's; temporary_disk_gib: 0 without one."""

    series: str
    vcpus: int
    memory_gib: int
    architecture: Architecture = "amd64"
    gpus: int = 0
    temporary_disk_gib: int = 0


class Client(_Data):
    """The user who runs the program. roles: names of those that it has on the whole subscription; actions: those that a
    custom role permits in addition; groups: IDs in Entra ID.
    """

    client_id: str
    object_id: str
    roles: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


class _Placed(_Data):
    region: str


class ExistingSubnet(_Placed):
    """A subnet that others made. nat_gateway, route_table: True if it has one."""

    address_prefix: Annotated[str, AfterValidator(_addresses)]
    nat_gateway: bool = False
    route_table: bool = False


class ExistingIdentity(_Placed):
    """A user-assigned identity that others made."""

    client_id: str
    principal_id: str


class CapacityReservationGroup(_Placed):
    """Machines that are reserved. machines: of each size; zones: none if the group is regional."""

    zones: tuple[str, ...] = ()
    machines: dict[str, int]


class Snapshot(_Placed):
    """A snapshot of a node pool, which keeps its node image."""

    node_image_version: str
    os_sku: str


class MonitorWorkspace(_Placed):
    """An Azure Monitor workspace."""


class Subscription(_Data):
    """One Azure subscription. Quotas are in vCPUs; capacity counts machines of a size that Azure can place now."""

    subscription_id: str
    tenant_id: str
    client: Client
    regions: dict[str, tuple[str, ...]]
    regional_vcpus: _Count
    placement_group_limit: _Count = 100
    """The most machines of a scale set that is one placement group. A support request raises it, to 300 at most
    (MicrosoftDocs/azure-compute-docs, setup-infiniband.md, read 2026-11-23)."""
    managed_clusters: _Count = 100
    """The most AKS clusters per region."""
    series: dict[str, Series]
    sizes: dict[str, Size]
    capacity: dict[str, _Count]
    kubernetes_versions: tuple[_Version, ...]
    long_term_support_versions: tuple[_Version, ...] = ()
    default_kubernetes_version: str
    features: dict[str, FeatureState]
    roles: dict[str, str]
    existing_subnets: dict[str, ExistingSubnet] = {}
    existing_identities: dict[str, ExistingIdentity] = {}
    capacity_reservation_groups: dict[str, CapacityReservationGroup] = {}
    snapshots: dict[str, Snapshot] = {}
    monitor_workspaces: dict[str, MonitorWorkspace] = {}
    faults: tuple[Fault, ...] = ()

    @model_validator(mode="after")
    def _offers_what_it_takes(self) -> Self:
        if self.patch_of(self.default_kubernetes_version) is None:
            raise ValueError(f"defaultKubernetesVersion {self.default_kubernetes_version} is not among those offered")
        placed: tuple[tuple[str, _Placed], ...] = (
            *self.existing_subnets.items(),
            *self.existing_identities.items(),
            *self.capacity_reservation_groups.items(),
            *self.snapshots.items(),
            *self.monitor_workspaces.items(),
        )
        for name, there in placed:
            if there.region not in self.regions:
                known = ", ".join(self.regions)
                raise ValueError(f"{name} is in region {there.region}, and the regions are {known}")
        return self

    def size(self, name: str, infiniband: Mapping[str, MachineSize] = SIZES) -> Size | MachineSize | None:
        """A size by its Azure name. infiniband: those with InfiniBand."""
        return infiniband.get(name) or self.sizes.get(name)

    def series_of(self, size: Size | MachineSize) -> Series:
        """The family of a size; one that is not named here, as of a size that a stack describes, does not have a
        separate limit.
        """
        unknown = Series(family=f"standard{size.series}Family", vcpus=self.regional_vcpus)
        return self.series.get(size.series, unknown)

    def patch_of(self, version: str) -> str | None:
        """The offered Kubernetes version that `1.35` or `1.35.8` means (the newest patch of a minor), or None."""
        offered = (*self.kubernetes_versions, *self.long_term_support_versions)
        if version in offered:
            return version
        matching = [known for known in offered if known.rpartition(".")[0] == version]
        return max(matching, key=version_key, default=None)


Named = TypeVar("Named")


def by_id(known: Mapping[str, Named], resource: str) -> Named | None:
    """The object of a resource ID; IDs are compared without case."""
    return next((value for key, value in known.items() if key.casefold() == resource.casefold()), None)


def version_key(version: str) -> tuple[int, ...]:
    """A Kubernetes version in comparable form."""
    return tuple(int(part) for part in version.split("."))


class SubscriptionFileError(ValueError):
    """A subscription file that cannot be read, or has mistakes; the text names the file and every refused key."""


def load(path: Path = DEFAULT_FILE) -> Subscription:
    """Read a subscription file. Raises SubscriptionFileError."""
    try:
        return Subscription.model_validate(read(path))
    except HandwrittenError as error:
        raise SubscriptionFileError(f"{path}: {error}") from error
    except ValidationError as error:
        mistakes = "\n".join(f"  - {place(where) or 'the file'} {reason}" for where, reason in told(error))
        reason = first_lines(f"\n{mistakes}" if "\n" in mistakes else mistakes.removeprefix("  -"))
        raise SubscriptionFileError(f"{path}: is not a subscription like {DEFAULT_FILE.name}:{reason}") from error
