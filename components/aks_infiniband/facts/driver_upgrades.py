"""The labels of nodes by which NVIDIA's two operators say how far a driver's upgrade is.

Both use one library (NVIDIA/k8s-operator-libs 11e747a, pkg/upgrade/consts.go and util.go). The library names a driver
`ofed` in the Network Operator and `gpu` in the GPU Operator (26.3.3, cmd/gpu-operator/main.go).
"""

from typing import Final

NIC: Final = "nvidia.com/ofed-driver-upgrade"
GPU: Final = "nvidia.com/gpu-driver-upgrade"
"""Prefix of the labels and annotations of a driver's upgrade."""

REQUIRED: Final = "upgrade-required"
FAILED: Final = "upgrade-failed"
AT_REST: Final = frozenset({"", "unknown", "upgrade-done", FAILED})
"""The states in which the operator does nothing at a node; the empty one is that of a node without the label."""


def state_label(driver: str) -> str:
    """The label that holds how far the upgrade of a driver, NIC or GPU, is."""
    return f"{driver}-state"


def skip_label(driver: str) -> str:
    """The label whose value `true` has the operator pass the node over."""
    return f"{driver}.skip"
