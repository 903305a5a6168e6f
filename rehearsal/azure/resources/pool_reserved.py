"""Values of an agent pool that AKS reserves for itself, and pairs of properties that it does not take together.

Sources: MicrosoftDocs/azure-aks-docs fb060ab (2026-08-21), use-labels.md (reserved prefixes of labels),
upgrade-aks-node-pools-rolling.md (surge), use-amd-gpus.md (the driver); Azure/karpenter-provider-azure issue 1830 (the
prefix of taints). The sentences are ours.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from aks_infiniband.facts.catalog.machine import MachineSize

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import refused

_OF_AKS: Final = ("kubernetes.azure.com/",)
_OF_LABELS: Final = (*_OF_AKS, "kubernetes.io/")
_SPOT: Final = "kubernetes.azure.com/scalesetpriority"
"""AKS sets it on Spot pools itself, and takes it there."""


def require_free(cloud: Cloud, pool: Mapping[str, Any]) -> None:
    """Refuse labels and taints with AKS's own prefix, an upgrade without room, and AKS's driver for AMD's GPUs."""
    taints = [taint.partition("=")[0] for taint in pool.get("nodeTaints") or []]
    _require_foreign("nodeLabels", pool.get("nodeLabels") or {}, _OF_LABELS)
    _require_foreign("nodeTaints", taints, _OF_AKS)
    upgrade = {"maxSurge": "10%", "maxUnavailable": "0", **(pool.get("upgradeSettings") or {})}
    if _is_nothing(upgrade["maxSurge"]) and _is_nothing(upgrade["maxUnavailable"]):
        raise refused("surge-and-unavailable-are-zero")
    size = cloud.size(str(pool["vmSize"]))
    amd = isinstance(size, MachineSize) and size.accelerator is not None and size.accelerator.vendor == "amd"
    if amd and (pool.get("gpuProfile") or {}).get("driver") != "None":
        raise refused("gpu-driver-of-amd", vm_size=pool["vmSize"])


def _require_foreign(name: str, keys: Iterable[str], prefixes: tuple[str, ...]) -> None:
    for key in keys:
        if key.startswith(prefixes) and key != _SPOT:
            raise refused("reserved-prefix", name=name, key=key)


def _is_nothing(amount: Any) -> bool:
    return str(amount).rstrip("%") == "0"
