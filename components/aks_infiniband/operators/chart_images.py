"""The Helm values that name the images of both operators' charts, so that all of them can come from one registry.

Values and sources are those of the charts' own defaults (network-operator 26.4.1, gpu-operator v26.3.3). Of the
Network Operator's chart the subcharts that stay switched off are left out: SR-IOV and Maintenance Operator.
"""

from collections.abc import Mapping
from typing import Any, Final

from aks_infiniband.resources.registry import Registry

Path = tuple[str, ...]

_NVIDIA: Final = "nvcr.io/nvidia"
_CLOUD_NATIVE: Final = f"{_NVIDIA}/cloud-native"
_MELLANOX: Final = f"{_NVIDIA}/mellanox"

NETWORK_OPERATOR_IMAGES: Final[Mapping[Path, str]] = {
    ("operator", "repository"): _CLOUD_NATIVE,
    ("operator", "ofedDriver", "initContainer", "repository"): _MELLANOX,
    ("node-feature-discovery", "image", "repository"): f"{_MELLANOX}/node-feature-discovery",
}

_GPU_OPERATOR_PARTS: Final = {
    "validator": _NVIDIA,
    "operator": _NVIDIA,
    "driver": _NVIDIA,
    "toolkit": f"{_NVIDIA}/k8s",
    "devicePlugin": _NVIDIA,
    "dcgm": _CLOUD_NATIVE,
    "dcgmExporter": f"{_NVIDIA}/k8s",
    "gfd": _NVIDIA,
    "migManager": _CLOUD_NATIVE,
    "nodeStatusExporter": _NVIDIA,
    "gds": _CLOUD_NATIVE,
    "gdrcopy": _CLOUD_NATIVE,
    "vgpuDeviceManager": _CLOUD_NATIVE,
    "vfioManager": _CLOUD_NATIVE,
    "sandboxDevicePlugin": _NVIDIA,
    "kataSandboxDevicePlugin": _CLOUD_NATIVE,
    "ccManager": _CLOUD_NATIVE,
}
GPU_OPERATOR_IMAGES: Final[Mapping[Path, str]] = {
    **{(part, "repository"): source for part, source in _GPU_OPERATOR_PARTS.items()},
    ("driver", "manager", "repository"): _CLOUD_NATIVE,
    ("vgpuManager", "driverManager", "repository"): _CLOUD_NATIVE,
    ("vfioManager", "driverManager", "repository"): _CLOUD_NATIVE,
}


def network_operator_images(registry: Registry) -> dict[str, Any]:
    """The Network Operator chart's values for a registry; none where images stay at their sources."""
    values = _repositories(NETWORK_OPERATOR_IMAGES, registry)
    if registry.pull_secret:
        values["imagePullSecrets"] = [registry.pull_secret]
        _put(values, ("node-feature-discovery", "imagePullSecrets"), registry.pull_secrets())
    return values


def gpu_operator_images(registry: Registry) -> dict[str, Any]:
    """The GPU Operator chart's values for a registry; none where images stay at their sources."""
    values = _repositories(GPU_OPERATOR_IMAGES, registry)
    if registry.pull_secret:
        for part in _GPU_OPERATOR_PARTS:
            _put(values, (part, "imagePullSecrets"), [registry.pull_secret])
    return values


def _repositories(images: Mapping[Path, str], registry: Registry) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if registry.images is not None:
        for path, source in images.items():
            _put(values, path, registry.image(source))
    return values


def _put(values: dict[str, Any], path: Path, value: object) -> None:
    *parents, last = path
    for key in parents:
        values = values.setdefault(key, {})
    values[last] = value
