"""Defaults that follow from a machine size: who owns the GPUs' driver, and the OS SKU."""

import re
from typing import Final, Literal

from aks_infiniband.facts.catalog import GpuDriver, MachineSize, NicDriver

OsSku = Literal["Ubuntu", "Ubuntu2204", "Ubuntu2404"]
"""Those for which NVIDIA's drivers are built (field reports, A9)."""
GPU_OPERATOR_OFF: Final = "nvidia.com/gpu.deploy.operands"
"""Node label that, false, keeps every DaemonSet of the GPU Operator off a node (NVIDIA, GPU Operator, "Preventing
Installation of Operands on Some Nodes")."""


def gpu_driver(size: MachineSize) -> GpuDriver:
    """Who owns the GPUs' driver: the operator where it makes such GPUs usable."""
    gpus = size.accelerator
    return "operator" if gpus is not None and gpus.software == "gpu-operator" else "none"


def keeps_gpu_operator_off(owner: GpuDriver, size: MachineSize | None, vm_size: str) -> bool:
    """Whether the pool's nodes have GPUs of NVIDIA that the GPU Operator must not touch.

    size: None without InfiniBand. Azure's sizes with GPUs are the N family; those with GPUs of AMD say so in their name
    ("Azure virtual machine sizes naming conventions").
    """
    if owner != "none":
        return False
    if size is not None:
        return size.accelerator is not None and size.accelerator.vendor == "nvidia"
    return re.match(r"Standard_N", vm_size) is not None and not re.search(r"MI\d|_V710|NV\d+as_v4", vm_size)


def os_sku(size: MachineSize, nic_driver: NicDriver) -> OsSku:
    """The OS SKU. GB200 and GB300 need Ubuntu2404 (AKS InfiniBand guide); the inbox driver is that of Ubuntu 24.04."""
    return "Ubuntu2404" if size.architecture == "arm64" or nic_driver == "inbox" else "Ubuntu"
