"""What a pool is in the end: its own setting, else the stack's, else what follows from its size.

The same answers for the checks, which see settings with holes where a value is not well-formed, and for the
components, which see whole ones.
"""

import re
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Network

from aks_infiniband.facts.catalog import SIZES, GpuDriver, MachineSize, NicDriver, described
from aks_infiniband.stack.settings.pools import DescribedSize, OsSku, PoolSettings

GPU_OPERATOR_OFF = "nvidia.com/gpu.deploy.operands"
"""Node label that, false, keeps every DaemonSet of the GPU Operator off a node (NVIDIA, GPU Operator, "Preventing
Installation of Operands on Some Nodes")."""


def known_sizes(sizes: Mapping[str, DescribedSize] | None) -> dict[str, MachineSize]:
    """The catalogue's sizes and those that the stack file describes."""
    own = {name: described(name, size.model_dump(by_alias=True)) for name, size in (sizes or {}).items()}
    return {**own, **SIZES}


def gpu_driver(given: GpuDriver | None, size: MachineSize | None) -> GpuDriver:
    """The owner of the GPUs' driver. size: None for a pool without InfiniBand, whose GPUs are nobody's business."""
    if given is not None:
        return given
    if size is None or size.accelerator is None or size.accelerator.software != "gpu-operator":
        return "none"
    return "operator"


def keeps_gpu_operator_off(owner: GpuDriver, size: MachineSize | None, vm_size: str) -> bool:
    """Whether the pool's nodes have GPUs of NVIDIA that the GPU Operator must not touch.

    Azure's sizes with GPUs are the N family; those with GPUs of AMD say so in their name ("Azure virtual machine sizes
    naming conventions").
    """
    if owner != "none":
        return False
    if size is not None:
        return size.accelerator is not None and size.accelerator.vendor == "nvidia"
    return re.match(r"Standard_N", vm_size) is not None and not re.search(r"MI\d|_V710|NV\d+as_v4", vm_size)


def os_sku(given: OsSku | None, size: MachineSize | None, nic_driver: NicDriver) -> OsSku:
    """The OS SKU. GB200 and GB300 need Ubuntu2404 (AKS InfiniBand guide); the inbox driver is that of Ubuntu 24.04."""
    if given is not None:
        return given
    grace = size is not None and size.architecture == "arm64"
    return "Ubuntu2404" if grace or (size is not None and nic_driver == "inbox") else "Ubuntu"


def ipoib_devices(pool: PoolSettings, size: MachineSize, rails: int) -> tuple[str, ...]:
    """Parent interfaces of the pool's IPoIB networks; fewer than rails where no more are known."""
    return pool.ipoib_devices or size.ipoib_devices[:rails]


def ipoib_ranges(whole: IPv4Network, devices: Iterable[str]) -> dict[str, IPv4Network]:
    """The addresses of the network on each device: the whole range for one, else the first of 2, 4, 8, … equal parts.

    Raises ValueError for a range that cannot be split so often.
    """
    names = list(dict.fromkeys(devices))
    halvings = max(0, len(names) - 1).bit_length()
    return dict(zip(names, whole.subnets(prefixlen_diff=halvings), strict=False))
