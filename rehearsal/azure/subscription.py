"""What the simulated subscription is and offers: typed, read from `subscription.yaml` or a file of the same shape."""

from pathlib import Path
from typing import Final, Literal

import yaml
from aks_infiniband.catalog import SIZES, Architecture, MachineSize
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

SUBSCRIPTION_VARIABLE: Final = "AKS_INFINIBAND_SUBSCRIPTION"
"""Environment variable that names the file of another simulated subscription."""
DEFAULT_FILE: Final = Path(__file__).with_name("subscription.yaml")

FeatureState = Literal["NotRegistered", "Pending", "Registering", "Registered", "Unregistering", "Unregistered"]


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel)


class Series(_Data):
    """A family of sizes that share a quota. vcpus: the quota per region; regions: that offer it, all when empty."""

    family: str
    vcpus: int
    regions: tuple[str, ...] = ()


class Size(_Data):
    """A general-purpose machine size."""

    series: str
    vcpus: int
    memory_gib: int
    architecture: Architecture = "amd64"


class Client(_Data):
    """Who runs the program."""

    client_id: str
    object_id: str


class Subscription(_Data):
    """One Azure subscription. Quotas are in vCPUs; capacity counts machines of a size that Azure can place now."""

    subscription_id: str
    tenant_id: str
    client: Client
    regions: dict[str, tuple[str, ...]]
    regional_vcpus: int
    series: dict[str, Series]
    sizes: dict[str, Size]
    capacity: dict[str, int]
    kubernetes_versions: tuple[str, ...]
    default_kubernetes_version: str
    features: dict[str, FeatureState]
    roles: dict[str, str]

    def size(self, name: str) -> Size | MachineSize | None:
        """A size by its Azure name, InfiniBand or general-purpose."""
        return SIZES.get(name) or self.sizes.get(name)

    def offered(self, region: str) -> list[str]:
        """The sizes a region offers."""
        return sorted(name for name in [*self.sizes, *SIZES] if self.offers(name, region))

    def offers(self, name: str, region: str) -> bool:
        """Whether a region offers a size."""
        size = self.size(name)
        series = self.series.get(size.series) if size else None
        return series is not None and (not series.regions or region in series.regions)

    def patch_of(self, version: str) -> str | None:
        """The offered Kubernetes version that `1.34` or `1.34.2` means (the newest patch of a minor), or None."""
        if version in self.kubernetes_versions:
            return version
        matching = [known for known in self.kubernetes_versions if known.rpartition(".")[0] == version]
        return max(matching, key=version_key, default=None)


def version_key(version: str) -> tuple[int, ...]:
    """A Kubernetes version in comparable form."""
    return tuple(int(part) for part in version.split("."))


def load(path: Path = DEFAULT_FILE) -> Subscription:
    """Read a subscription file. Raises ValueError that names the file and every refused key."""
    try:
        return Subscription.model_validate(yaml.safe_load(path.read_text()))
    except (ValidationError, yaml.YAMLError) as error:
        raise ValueError(f"{path} does not describe a subscription like {DEFAULT_FILE.name}: {error}") from error
