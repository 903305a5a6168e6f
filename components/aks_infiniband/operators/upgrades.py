"""How a changed driver reaches the nodes; NVIDIA's two operators take the same policy for it."""

from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, kw_only=True, slots=True)
class DriverUpgrade:
    """One node at a time, drained first: a driver that reloads cuts its node's pods off the GPUs and the fabric."""

    automatic: bool = True
    """Whether a changed version rolls out by itself. Off, a node gets it when its driver pod is deleted."""
    drain_timeout_seconds: int = 300
    """How long pods may take to leave a node; 0 waits for as long as they need."""

    def policy(self) -> dict[str, Any]:
        """The upgrade policy as ofedDriver and the GPU Operator's chart take it.

        force: pods without a controller are evicted too, although nothing starts them again; as in the AKS InfiniBand
        guide (Azure/aks-rdma-infiniband, configs/nicclusterpolicy/base).
        """
        return {
            "autoUpgrade": self.automatic,
            "maxParallelUpgrades": 1,
            "drain": {
                "enable": True,
                "force": True,
                "deleteEmptyDir": True,
                "timeoutSeconds": self.drain_timeout_seconds,
            },
        }


ONE_BY_ONE: Final = DriverUpgrade()
"""A changed version rolls out by itself, and a node's pods have five minutes to leave."""
