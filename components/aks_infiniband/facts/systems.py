"""The systems that node pools can run: OS SKU, versions of Kubernetes, and GPUs, in one table.

Sources: MicrosoftDocs/azure-aks-docs fb060ab (2026-08-21), upgrade-os-version.md (versions), intro-azure-linux.md and
use-amd-gpus.md (GPUs under Azure Linux); Azure/AKS issue 4602 (AKS answers InvalidOSSKU for any other GPU size).
NVIDIA's lists of images for Network Operator 26.4.1 and 26.7.0 (images-sha256.rst, read 2026-11-28) name doca-driver
tags for Ubuntu, RHCOS, RHEL and SLES, and none for Azure Linux. One release note of 26.1 calls it supported
(Mellanox/network-operator-docs 0c0ecad, release-notes.rst, 2026-05-21), so it is taken, but unproven. The same holds
for the GPU Operator, whose documentation names no Azure Linux (NVIDIA/cloud-native-docs 52dcb7b, platform-support.rst).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from aks_infiniband.facts.catalog.machine import Accelerator, OsSku
from aks_infiniband.facts.kubernetes import UBUNTU_IS_2404_SINCE, Minor
from aks_infiniband.facts.pool import Pool

SystemName = Literal["Ubuntu 22.04", "Ubuntu 24.04", "Azure Linux 3"]


@dataclass(frozen=True, kw_only=True, slots=True)
class OnKubernetes:
    """The system of an OS SKU in a range of versions of Kubernetes. Without a bound, the range is open."""

    system: SystemName
    since: Minor = (0, 0)
    until: Minor | None = None

    def has(self, version: Minor) -> bool:
        """True if the range has a version."""
        return self.since <= version and (self.until is None or version <= self.until)


_MINOR_BEFORE_2404: Final[Minor] = (UBUNTU_IS_2404_SINCE[0], UBUNTU_IS_2404_SINCE[1] - 1)
OS_SKUS: Final[Mapping[OsSku, tuple[OnKubernetes, ...]]] = {
    "Ubuntu": (
        OnKubernetes(system="Ubuntu 22.04", until=_MINOR_BEFORE_2404),
        OnKubernetes(system="Ubuntu 24.04", since=UBUNTU_IS_2404_SINCE),
    ),
    "Ubuntu2204": (OnKubernetes(system="Ubuntu 22.04", until=(1, 36)),),
    # AzureLinux was 2 before 1.32, which has retired (MicrosoftDocs/azure-aks-docs 024a50a, 2025-07-21).
    "AzureLinux": (OnKubernetes(system="Azure Linux 3", since=(1, 32), until=(1, 36)),),
    "AzureLinux3": (OnKubernetes(system="Azure Linux 3", since=(1, 28), until=(1, 36)),),
}
"""By OS SKU, the oldest versions first. Nothing is known of versions after 1.37."""
AZURE_LINUX_GPUS: Final = frozenset({"V100", "A100"})
"""GPU models of InfiniBand sizes that AKS has under Azure Linux: of ND sizes V100 and A100 alone."""


def systems_of(sku: OsSku, version: Minor) -> tuple[SystemName, ...]:
    """The system behind an OS SKU in a version of Kubernetes; none if AKS does not have it there."""
    return tuple(part.system for part in OS_SKUS[sku] if part.has(version))


def system_of(sku: OsSku, version: Minor) -> SystemName:
    """The same. Raises ValueError, which says which versions have the OS SKU."""
    names = systems_of(sku, version)
    if not names:
        raise ValueError(f"needs Kubernetes {_versions(sku)}; the cluster has {_written(version)}")
    return names[0]


def refuse_gpus(sku: OsSku, gpus: Accelerator | None) -> None:
    """Raises ValueError for GPUs that AKS does not have under an OS SKU."""
    if sku.startswith("AzureLinux") and gpus is not None and gpus.model not in AZURE_LINUX_GPUS:
        raise ValueError(
            f"must be Ubuntu for {gpus.model}: of the GPUs that InfiniBand sizes have, AKS runs only "
            f"{' and '.join(sorted(AZURE_LINUX_GPUS))} under Azure Linux"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Unproven:
    """A driver that AKS and the settings allow on a system, and for which its maker publishes nothing there."""

    sku: str
    """The beginning of the OS SKU."""
    driver: Literal["nicDriver doca-ofed", "gpuDriver operator"]
    because: str
    instead: str


UNPROVEN: Final = (
    Unproven(
        sku="AzureLinux",
        driver="nicDriver doca-ofed",
        because="NVIDIA's lists of images for Network Operator 26.4.1 and 26.7.0 lack a doca-driver for Azure Linux",
        instead="osSku Ubuntu",
    ),
    Unproven(
        sku="AzureLinux",
        driver="gpuDriver operator",
        because="the GPU Operator's platform support names no Azure Linux",
        instead="osSku Ubuntu, or gpuDriver aks",
    ),
)


_PARTS_OF_MACHINES: Final = re.compile(r"Standard_ND\w*flex\w*", re.IGNORECASE)


def unproven_size(vm_size: str) -> str | None:
    """The reason why GPUs of a size without InfiniBand may not work; None if none is known.

    Azure/AgentBaker pull request 9430 (2026-09): AKS's node image starts no fabric manager on flexible sizes.
    """
    if not _PARTS_OF_MACHINES.fullmatch(vm_size):
        return None
    return "AKS starts no fabric manager there, and CUDA then answers 802 (system not yet initialized)"


def unproven(sku: OsSku, pool: Pool) -> list[Unproven]:
    """The drivers of a pool that their makers do not publish for its system."""
    drivers = {f"nicDriver {pool.nic_driver}", f"gpuDriver {pool.gpu_driver}"}
    return [each for each in UNPROVEN if sku.startswith(each.sku) and each.driver in drivers]


def _versions(sku: OsSku) -> str:
    since, until = OS_SKUS[sku][0].since, OS_SKUS[sku][-1].until
    if until is None:
        return f"{_written(since)} or later"
    return f"{_written(since)} to {_written(until)}" if since > (0, 0) else f"{_written(until)} or older"


def _written(version: Minor) -> str:
    return ".".join(map(str, version))
