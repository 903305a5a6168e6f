"""Node images: which operating system an OS SKU means, and what its nodes say of themselves."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from aks_infiniband.facts.catalog.machine import Architecture, MachineSize

from rehearsal.azure.subscription import Size, version_key


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSystem:
    """An operating system of nodes. effective: the OS SKU that names it alone; oldest: the first Kubernetes that it
    runs.
    """

    image: str
    effective: str
    os_image: str
    kernel: str
    containerd: str
    oldest: str
    has_drivers: bool = False
    """True if it brings DOCA-OFED, which openibd loads, the GPU driver, the container toolkit and a device plugin."""


_UBUNTU_2204: Final = NodeSystem(
    image="AKSUbuntu-2204",
    effective="Ubuntu2204",
    os_image="Ubuntu 22.04.5 LTS",
    kernel="5.15.0-1102-azure",
    containerd="containerd://1.7.30-1",
    oldest="1.25",
)
_UBUNTU_2404: Final = NodeSystem(
    image="AKSUbuntu-2404",
    effective="Ubuntu2404",
    os_image="Ubuntu 24.04.3 LTS",
    kernel="6.8.0-1046-azure",
    containerd="containerd://2.3.2-1",
    oldest="1.32",
)
_UBUNTU_2404_GB: Final = replace(_UBUNTU_2404, image="AKSUbuntu-2404gen2arm64gb", has_drivers=True)
"""One for GB200 and GB300 (`aks_infiniband.facts.node_images`). Here a pool gets it from a snapshot alone, as that of
the one published setup had another."""
_GRACE_BLACKWELL_KERNEL: Final = "6.14.0-1003-azure-nvidia"
"""Both images' on GB200 and GB300 (Azure/AgentBaker 06836ee, vhdbuilder/packer/gb-mai-bom.json and
post-install-dependencies.sh)."""
_AZURE_LINUX: Final = NodeSystem(
    image="AKSAzureLinux-V3",
    effective="AzureLinux3",
    os_image="Microsoft Azure Linux 3.0",
    kernel="6.6.112.1-2.azl3",
    containerd="containerd://2.0.0",
    oldest="1.31",
)
_SYSTEMS: Final = (_UBUNTU_2204, _UBUNTU_2404_GB, _UBUNTU_2404, _AZURE_LINUX)
_BY_SKU: Final = {
    "Ubuntu2204": _UBUNTU_2204,
    "Ubuntu2404": _UBUNTU_2404,
    "AzureLinux": _AZURE_LINUX,
    "AzureLinux3": _AZURE_LINUX,
}
UBUNTU_2404_FROM: Final = "1.35"
"""Kubernetes from which the OS SKU Ubuntu is 24.04; up to 1.34 it is 22.04 (Azure, "Upgrade the OS version in AKS")."""
_ROLLED_OUT: Final = timedelta(days=21)
"""The age of the newest release that every region has. The age is assumed; AKS builds one release a week."""


def system_of_sku(os_sku: str, kubernetes: str) -> NodeSystem | None:
    """The meaning of an OS SKU with a version of Kubernetes; None for one that is not simulated."""
    if os_sku == "Ubuntu":
        newer = version_key(kubernetes)[:2] >= version_key(UBUNTU_2404_FROM)
        return _UBUNTU_2404 if newer else _UBUNTU_2204
    return _BY_SKU.get(os_sku)


def newest_release(on: date) -> str:
    """The release of node images that a new node gets on a day: that of a Tuesday, such as 202610.27.0."""
    latest = on - _ROLLED_OUT
    built = latest - timedelta(days=(latest.weekday() - 1) % 7)
    return f"{built:%Y%m.%d}.0"


def newest_image(os_sku: str, kubernetes: str, size: Size | MachineSize, release: str | None = None) -> str:
    """The node image version that a new node of a size gets. release: the newest that is out; None: as of today."""
    system = system_of_sku(os_sku, kubernetes)
    release = release or newest_release(datetime.now(tz=UTC).date())
    assert system, f"the OS SKU {os_sku} was accepted and is not simulated"
    suffix = "gen2arm64containerd" if size.architecture == "arm64" else "gen2containerd"
    return f"{system.image}{suffix}-{release}"


def system_of_image(node_image_version: str) -> NodeSystem:
    """The operating system in a node image."""
    return next(system for system in _SYSTEMS if node_image_version.startswith(system.image))


def kernel_of_image(node_image_version: str) -> str:
    """The kernel in a node image. A release that is yet to come has another one, each week's the next: assumed."""
    kernel, release = system_of_image(node_image_version).kernel, node_image_version.rpartition("-")[2]
    built, newest = (
        datetime.strptime(each.rpartition(".")[0], "%Y%m.%d").replace(tzinfo=UTC)
        for each in (release, newest_release(datetime.now(tz=UTC).date()))
    )
    later = max(0, (built - newest).days // 7)
    return re.sub(r"-(\d+)", lambda number: f"-{int(number[1]) + later}", kernel, count=1)


def kernel_on(size: Size | MachineSize, node_image_version: str) -> str:
    """The kernel that a node image boots on a machine of a size."""
    grace_blackwell = isinstance(size, MachineSize) and size.nvlink_domain > 1
    return _GRACE_BLACKWELL_KERNEL if grace_blackwell else kernel_of_image(node_image_version)


def architecture_of_image(node_image_version: str) -> Architecture:
    """The architecture of a node image."""
    return "arm64" if "arm64" in node_image_version else "amd64"


def node_image(pool: Mapping[str, Any], size: Size | MachineSize) -> str:
    """The node image version of a pool's nodes: the one it has, or the newest of its OS SKU."""
    version = str(pool.get("currentOrchestratorVersion") or pool.get("orchestratorVersion") or UBUNTU_2404_FROM)
    return str(pool.get("nodeImageVersion") or newest_image(str(pool["osSKU"]), version, size))
