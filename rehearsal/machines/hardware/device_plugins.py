"""What a device plugin offers, from its configuration and the machine's devices.

k8s-rdma-shared-dev-plugin shares all matching devices rdmaHcaMax times, provided that each has its character devices
(rdma_cm, umad, uverbs: requiredRdmaDevices in pkg/resources/rdma_device_spec.go); sriov-network-device-plugin hands out
each matching device once; NVIDIA's hands out GPUs. Field names and defaults are those of the plugins' configuration
files.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rehearsal.machines.hardware.kernel_modules import IPOIB
from rehearsal.machines.hardware.model import Hardware, RdmaDevice

CONFIG_KEY = "config.json"
_DRIVER = "mlx5_core"
_CHARACTER_DEVICES = frozenset({"ib_uverbs", "ib_umad", "rdma_ucm"})
"""The modules whose character devices the shared plugin insists on."""


class PluginConfigError(ValueError):
    """A configuration that the real plugin refuses at its start."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OfferedResource:
    """One extended resource: how many can be asked for, and the devices behind it."""

    name: str
    count: int
    rdma_devices: tuple[RdmaDevice, ...] = ()
    gpus: bool = False
    shared: bool = False
    """Whether one unit gives all the devices (True) or one of them (False)."""


def shared_rdma(config: str, hardware: Hardware, modules: Collection[str]) -> list[OfferedResource]:
    """The resources of k8s-rdma-shared-dev-plugin, 0 of one whose selectors match nothing that it can hand out.

    modules: the kernel modules that the machine has loaded. Raises PluginConfigError for what the plugin refuses.
    """
    offered = []
    for entry in _entries(config, "configList"):
        name = f"{entry.get('resourcePrefix') or 'rdma'}/{_resource_name(entry)}"
        maximum = entry.get("rdmaHcaMax", 0)
        if not isinstance(maximum, int) or maximum < 0:
            raise PluginConfigError(f"{name}: rdmaHcaMax is {maximum!r}; a number of 0 or more is allowed")
        selectors = dict(entry.get("selectors") or {})
        if entry.get("devices"):
            selectors["ifNames"] = entry["devices"]  # the older spelling of the plugin
        if not any(selectors.values()):
            raise PluginConfigError(f"{name}: neither selectors nor devices say which devices to share")
        complete = set(modules) >= _CHARACTER_DEVICES
        devices = tuple(
            device for device in hardware.rdma_devices if complete and _selected(device, selectors, modules)
        )
        offered.append(OfferedResource(name=name, count=maximum if devices else 0, rdma_devices=devices, shared=True))
    return offered


def sriov(
    config: str, hardware: Hardware, modules: Collection[str], *, default_prefix: str = "intel.com"
) -> list[OfferedResource]:
    """The resources of sriov-network-device-plugin; one whose selectors match nothing is not offered at all.

    modules: the kernel modules that the machine has loaded. default_prefix: the plugin's flag --resource-prefix.
    Raises PluginConfigError for what the plugin refuses.
    """
    offered = []
    for entry in _entries(config, "resourceList"):
        name = f"{entry.get('resourcePrefix') or default_prefix}/{_resource_name(entry)}"
        alternatives = entry.get("selectors") or [{}]
        if isinstance(alternatives, Mapping):
            alternatives = [alternatives]
        devices = tuple(
            device
            for device in hardware.rdma_devices
            if any(_selected(device, selectors, modules) for selectors in alternatives)
        )
        if devices:
            offered.append(OfferedResource(name=name, count=len(devices), rdma_devices=devices))
    return offered


def gpus(hardware: Hardware) -> list[OfferedResource]:
    """The resource of NVIDIA's device plugin."""
    count = len(hardware.gpus) if hardware.gpu_vendor == "nvidia" else 0
    return [OfferedResource(name="nvidia.com/gpu", count=count, gpus=True)]


def _entries(config: str, key: str) -> Sequence[Mapping[str, Any]]:
    try:
        document = json.loads(config)
    except ValueError as error:
        raise PluginConfigError(f"{CONFIG_KEY} is not JSON: {error}") from error
    entries = document.get(key) if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise PluginConfigError(f"{CONFIG_KEY} has no list {key}")
    return entries


def _resource_name(entry: Mapping[str, Any]) -> str:
    name = entry.get("resourceName")
    if not isinstance(name, str) or not name:
        raise PluginConfigError(f"an entry of {CONFIG_KEY} has no resourceName: {json.dumps(entry)}")
    return name


def _selected(device: RdmaDevice, selectors: Mapping[str, Any], modules: Collection[str]) -> bool:
    """Whether every selector that is given names the device; what the plugins call deviceIDs and devices is one.

    Both plugins read link type and names off the device's network interface, which an HCA has only with ib_ipoib.
    """
    has_interface = device.link_layer == "Ethernet" or IPOIB in modules
    link_type = "infiniband" if device.link_layer == "InfiniBand" else "ether"
    facts = {
        "vendors": device.pci.vendor,
        "deviceIDs": device.pci.device,
        "devices": device.pci.device,
        "drivers": _DRIVER,
        "ifNames": device.interface if has_interface else "",
        "pfNames": device.interface if has_interface else "",
        "pciAddresses": device.pci.address,
        "linkTypes": link_type if has_interface else "",
    }
    unknown = [key for key in selectors if key not in {*facts, "isRdma"} and selectors[key]]
    # A selector on something that a virtual function in a VM does not have (rootDevices, ddpProfiles, …) selects none.
    return not unknown and all(fact in selectors[key] for key, fact in facts.items() if selectors.get(key))
