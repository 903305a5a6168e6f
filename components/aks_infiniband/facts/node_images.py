"""Parts of a node image that this program can bring too: if both do, two owners fight over one device.

AKS builds an image for GB200 and GB300 that has all of it: DOCA-OFED 3.1.0, which openibd loads; the GPU driver
580.159.04 with nvidia-imex; the container toolkit 1.18.0; and as services the device plugin 0.17.3 and a DCGM exporter
(Azure/AgentBaker 06836ee, 2026-08-21: vhdbuilder/packer/gb-mai-bom.json; install-dependencies.sh,
configureGraceBlackwell; pkg/agent/datamodel/sig_config.go, whose version stands at 202602.19.0). The list of pools that
get it is not published. The one setup of GB300 on AKS that is published installs all of it with operators
(Azure/ai-infrastructure-on-azure a01b073, 2026-04-22, infrastructure_references/aks), so its nodes had another: the
image of Ubuntu 24.04 for arm64, without a driver and with the kernels linux-azure-nvidia and linux-azure
(Azure/AgentBaker 06836ee, post-install-dependencies.sh). So it is looked at, before a driver goes there.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from aks_infiniband.facts.pool import Pool

VERSION_LABEL: Final = "kubernetes.azure.com/node-image-version"
"""AKS's label of a node."""
_WITH_DRIVERS: Final = "2404gen2arm64gb"
"""Part of the version of the image that has drivers, such as AKSUbuntu-2404gen2arm64gbcontainerd-202602.19.0."""


def has_drivers(labels: Mapping[str, str]) -> bool | None:
    """True if the image of a node with these labels has NIC driver, GPU driver and device plugin; None if its version
    is not known.
    """
    version = labels.get(VERSION_LABEL)
    return None if version is None else _WITH_DRIVERS in version.lower()


def contradictions(pool: Pool, labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Contradictions between a node's image and the pool's owners of its drivers; and the remedies.

    labels: the node's. Only pools of sizes for which there is such an image have any.
    """
    has = has_drivers(labels) if pool.size.nvlink_domain > 1 else None
    if has is None:
        return
    image, of = labels[VERSION_LABEL], f"pool {pool.name}"
    if has and pool.nic_driver == "doca-ofed":
        what = f"node image {image} of {of} has DOCA-OFED, and nicDriver is doca-ofed: a second one cannot be loaded"
        yield what, f"nicDriver: inbox for {of}"
    if has and pool.gpu_driver == "operator":
        what = f"node image {image} of {of} has the GPU driver, and gpuDriver is operator: two drivers break the node"
        yield what, f"gpuDriver: image for {of}"
    if has and pool.gpu_driver == "image" and pool.gpu_device_plugin == "operator":
        what = f"node image {image} of {of} runs a device plugin, and gpuDevicePlugin is operator: both offer each GPU"
        yield what, f"gpuDevicePlugin: image for {of}"
    if not has and pool.gpu_driver == "image":
        what = f"node image {image} of {of} does not have a GPU driver, and gpuDriver is image: its GPUs have none"
        yield what, f"gpuDriver: operator for {of}"
