"""The kernel modules that a simulated machine has loaded, and the parts that cannot be there without them.

With the kernel's own mlx5 driver an AKS node has InfiniBand devices but no network interface on them: ib_ipoib is not
loaded (kubernetes-sigs/dranet, pull request 77: "InfiniBand-only, no netdev"; issue 51 shows the interface appear with
OFED), nor are ib_umad and rdma_ucm (k8s-rdma-shared-dev-plugin, issues 98, 108, 159 and 192). OFED's openibd loads
all of them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

INBOX_MODULES: Final = ("hv_netvsc", "pci_hyperv", "mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs")
"""Modules that Azure's Ubuntu kernel loads by itself once an mlx5 function is plugged in."""
GPU_MODULES: Final = ("nvidia", "nvidia_uvm", "nvidia_modeset")
"""Modules that a node image with NVIDIA's driver has loaded; nvidia_peermem is not among them (Azure/AKS issue
3507).
"""
OFED_MODULES: Final = ("ib_umad", "ib_ipoib", "ib_cm", "iw_cm", "rdma_cm", "rdma_ucm", "mlx_compat")
"""Modules that openibd starts in addition to those of the kernel."""
AMDGPU: Final = "amdgpu"
AMDGPU_MODULES: Final = (AMDGPU, "amdttm", "amdkcl")
"""Modules of AMD's driver as DKMS builds it (Azure/AKS pull request 5970 unloads them in this order; assumed)."""
PEERMEM: Final = "nvidia_peermem"
IPOIB: Final = "ib_ipoib"
_NAMED: Final = re.compile(r"(?<![\w-])(?:ib|rdma)[_-][a-z]+(?![\w-])")


def modules_named(pod: Mapping[str, Any]) -> frozenset[str]:
    """The RDMA modules that the commands, arguments and variables of a pod's containers name, each a word by itself.

    A dash in a name means the same as an underscore, as with modprobe.
    """
    return frozenset(name.replace("-", "_") for text in _texts(pod) for name in _NAMED.findall(text))


def lifts_memlock(pod: Mapping[str, Any]) -> bool:
    """True if a pod's containers set the unit option LimitMEMLOCK, from which containers get their limit."""
    return any("LimitMEMLOCK" in text for text in _texts(pod))


def _texts(pod: Mapping[str, Any]) -> Iterator[str]:
    spec = pod["spec"]
    containers: Iterable[Mapping[str, Any]] = [*(spec.get("initContainers") or []), *spec["containers"]]
    for container in containers:
        yield from container.get("command") or []
        yield from container.get("args") or []
        for variable in container.get("env") or []:
            yield variable.get("value") or ""
