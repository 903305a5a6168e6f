"""Feature discovery's findings on a machine: NFD's features and built-in labels, and the GPU labels of NVIDIA's
discovery.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

from rehearsal.machines.hardware.kernel_modules import INBOX_MODULES
from rehearsal.machines.hardware.model import Hardware, PciDevice
from rehearsal.machines.nodes.feature_rules import LABEL_NAMESPACE, Features

WORKER_CONFIG_KEY: Final = "nfd-worker.conf"
# NFD's defaults ("Worker configuration reference", sources.pci).
_DEFAULT_CLASSES: Final = ("03", "0b40", "12")
_DEFAULT_LABEL_FIELDS: Final = ("class", "vendor")
_OS_IDS: Final = {"Ubuntu": "ubuntu", "Azure Linux": "azurelinux"}
_GPU_FAMILIES: Final = {
    "V100": ("volta", "7", "0"),
    "A100": ("ampere", "8", "0"),
    "H100": ("hopper", "9", "0"),
    "H200": ("hopper", "9", "0"),
    "GB200": ("blackwell", "10", "0"),
    "GB300": ("blackwell", "10", "3"),
}


def features_of(
    hardware: Hardware,
    node_info: Mapping[str, str],
    node_name: str,
    *,
    modules: Iterable[str] = INBOX_MODULES,
) -> Features:
    """NFD's features of a machine.

    node_info: the node's status.nodeInfo, from which kernel and operating system are read. modules: the loaded ones.
    """
    return Features(
        flags={"kernel.loadedmodule": frozenset(modules)},
        attributes={
            "kernel.version": _kernel_version(node_info.get("kernelVersion", "")),
            "system.osrelease": _os_release(node_info.get("osImage", "")),
            "system.name": {"nodename": node_name},
            "memory.numa": _numa(hardware.pci_devices),
        },
        instances={
            "pci.device": tuple(
                {"class": pci.device_class, "vendor": pci.vendor, "device": pci.device} for pci in hardware.pci_devices
            ),
            "network.device": tuple(
                {"name": device.interface, "operstate": "up", "speed": str(device.rate_gbps * 1000)}
                for device in hardware.rdma_devices
            ),
        },
    )


def built_in_labels(features: Features, worker_config: str) -> dict[str, str]:
    """The labels that NFD's worker makes by itself, by full name.

    worker_config: the worker's nfd-worker.conf (YAML).
    """
    config = yaml.safe_load(worker_config) or {}
    label_sources = (config.get("core") or {}).get("labelSources") or ["all"]
    by_source = {
        "kernel": _prefixed("kernel-version", features.attributes["kernel.version"]),
        "system": _prefixed("system-os_release", features.attributes["system.osrelease"], ("ID", "VERSION_ID")),
        "memory": {"memory-numa": "true"} if features.attributes["memory.numa"]["is_numa"] == "true" else {},
        "pci": _pci_labels(features, (config.get("sources") or {}).get("pci") or {}),
    }
    return {
        f"{LABEL_NAMESPACE}/{name}": value
        for source, labels in by_source.items()
        if _is_enabled(source, label_sources)
        for name, value in labels.items()
    }


def gpu_labels(hardware: Hardware) -> dict[str, str]:
    """The labels of NVIDIA's gpu-feature-discovery, which counts those of the node (NVIDIA/k8s-device-plugin,
    docs/gpu-feature-discovery); none without an NVIDIA GPU.
    """
    accelerator = hardware.accelerator
    if accelerator is None or accelerator.vendor != "nvidia":
        return {}
    fabric = hardware.nvlink
    clique = {"nvidia.com/gpu.clique": fabric.clique} if fabric and fabric.registered else {}
    names = ("nvidia.com/gpu.family", "nvidia.com/gpu.compute.major", "nvidia.com/gpu.compute.minor")
    return {
        **dict(zip(names, _GPU_FAMILIES.get(accelerator.model, ()), strict=False)),
        "nvidia.com/gpu.count": str(len(hardware.gpus)),
        "nvidia.com/gpu.replicas": "1",
        "nvidia.com/gpu.memory": str(accelerator.memory_gb * 1000**3 // 2**20),
        "nvidia.com/gpu.product": f"NVIDIA-{accelerator.model}-{accelerator.memory_gb}GB",
        "nvidia.com/gpu.machine": "Virtual-Machine",
        "nvidia.com/gpu.sharing-strategy": "none",
        **clique,
    }


def amd_gpu_labels(hardware: Hardware) -> dict[str, str]:
    """Some of the labels of AMD's node labeller (ROCm/k8s-device-plugin, cmd/k8s-node-labeller); none without a GPU.

    The real one writes them itself, whether feature discovery runs or not.
    """
    accelerator = hardware.accelerator
    if accelerator is None or accelerator.vendor != "amd":
        return {}
    return {
        "amd.com/gpu.family": "AI",
        "amd.com/gpu.device-id": hardware.gpus[0].pci.device if hardware.gpus else "",
        "amd.com/gpu.vram": f"{accelerator.memory_gb}G",
    }


def _kernel_version(full: str) -> dict[str, str]:
    match = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", full)
    major, minor, revision = match.groups() if match else ("", "", None)
    return {"full": full, "major": major, "minor": minor, "revision": revision or ""}


def _os_release(os_image: str) -> dict[str, str]:
    """ID, VERSION_ID and its parts, as /etc/os-release of the image has them."""
    match = re.search(r"(\d+)(?:\.(\d+))?", os_image)
    major, minor = match.groups() if match else ("", None)
    identity = next((name for image, name in _OS_IDS.items() if image in os_image), "")
    # VERSION_ID of Ubuntu lacks the point release ("24.04"), though the image's name may carry one ("24.04.3 LTS").
    version = f"{major}.{minor}" if minor else major
    return {"ID": identity, "VERSION_ID": version, "VERSION_ID.major": major, "VERSION_ID.minor": minor or ""}


def _numa(devices: Iterable[PciDevice]) -> dict[str, str]:
    count = len({device.numa_node for device in devices})
    return {"is_numa": "true" if count > 1 else "false", "node_count": str(count)}


def _prefixed(prefix: str, attributes: Mapping[str, str], starts: tuple[str, ...] = ("",)) -> dict[str, str]:
    return {f"{prefix}.{key}": value for key, value in attributes.items() if value and key.startswith(starts)}


def _pci_labels(features: Features, config: Mapping[str, Any]) -> dict[str, str]:
    classes = tuple(str(code).lower() for code in config.get("deviceClassWhitelist") or _DEFAULT_CLASSES)
    fields = config.get("deviceLabelFields") or _DEFAULT_LABEL_FIELDS
    return {
        f"pci-{'_'.join(device[field] for field in fields if field in device)}.present": "true"
        for device in features.instances["pci.device"]
        if device["class"].startswith(classes)
    }


def _is_enabled(source: str, label_sources: Iterable[str]) -> bool:
    sources = set(label_sources)
    return f"-{source}" not in sources and bool(sources & {"all", source})
