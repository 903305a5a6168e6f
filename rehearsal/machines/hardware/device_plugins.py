"""A device plugin's offers, from its configuration and the machine's devices.

k8s-rdma-shared-dev-plugin shares all matching devices rdmaHcaMax times, provided that each has its character devices
(rdma_cm, umad, uverbs: requiredRdmaDevices in pkg/resources/rdma_device_spec.go). sriov-network-device-plugin hands out
each matching device once. NVIDIA's hands out GPUs. Field names and defaults are those of the plugins' configuration
files. The first two were run over the simulated sysfs (tests/field_recordings/device-plugins.yaml): a key that a plugin
does not know it passes over, and upper and lower case in a key are one to it, as to every program in Go.
"""

import contextlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rehearsal.machines.hardware.kernel_modules import IPOIB
from rehearsal.machines.hardware.model import Hardware, RdmaDevice

CONFIG_KEY = "config.json"
_DRIVER = "mlx5_core"
_CHARACTER_DEVICES = frozenset({"ib_uverbs", "ib_umad", "rdma_ucm"})
"""The modules whose character devices the shared plugin insists on."""
_SHARED_SELECTORS: Final = ("vendors", "deviceIDs", "drivers", "ifNames", "linkTypes")
_SRIOV_SELECTORS: Final = (
    *("vendors", "devices", "drivers", "pciAddresses", "linkTypes", "pKeys"),
    # These name what a virtual function in a virtual machine does not have, so they select nothing.
    *("pfNames", "rootDevices", "ddpProfiles", "acpiIndexes", "vdpaType"),
    "isRdma",
)
_NETWORK: Final = "netDevice"
_DEVICE_TYPES: Final = (_NETWORK, "accelerator", "auxNetDevice")
_NO_LISTS: Final = ("isRdma", "vdpaType")
_SHARED_NAME: Final = re.compile(r"[a-zA-Z0-9_]+")
_SRIOV_NAME: Final = re.compile(r"[a-zA-Z0-9_-]+")


class PluginConfigError(ValueError):
    """A configuration that the real plugin refuses at its start."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OfferedResource:
    """One extended resource: the amount that can be requested, and the devices behind it."""

    name: str
    count: int
    rdma_devices: tuple[RdmaDevice, ...] = ()
    gpus: bool = False
    shared: bool = False
    """True if one unit gives all the devices, False if one of them."""


def shared_rdma(config: str, hardware: Hardware, modules: Collection[str]) -> list[OfferedResource]:
    """The resources of k8s-rdma-shared-dev-plugin, 0 of one whose selectors match nothing that it can hand out.

    modules: the kernel modules that the machine has loaded. Raises PluginConfigError for what the plugin refuses.
    """
    offered: dict[str, OfferedResource] = {}
    document = _document(config)
    if (interval := document.get("periodicUpdateInterval") or 0) < 0:
        raise PluginConfigError(f"periodicUpdateInterval is {interval!r}; a number of 0 or more is allowed")
    for entry in _entries(document, "configList"):
        short = _resource_name(entry, _SHARED_NAME)
        name = f"{entry.get('resourcePrefix') or 'rdma'}/{short}"
        if short in offered:
            raise PluginConfigError(f"{name}: the resource name {short} already exists")
        maximum = entry.get("rdmaHcaMax", 0)
        if not isinstance(maximum, int) or maximum < 0:
            raise PluginConfigError(f"{name}: rdmaHcaMax is {maximum!r}; a number of 0 or more is allowed")
        selectors = _selectors(entry.get("selectors"), _SHARED_SELECTORS, name)
        if entry.get("devices"):  # the plugin's older spelling
            if any(selectors.values()):
                raise PluginConfigError(f"{name}: cannot specify both selectors and devices")
            selectors["ifNames"] = entry["devices"]
        if not any(selectors.values()):
            raise PluginConfigError(f"{name}: neither selectors nor devices say which devices to share")
        complete = set(modules) >= _CHARACTER_DEVICES
        devices = tuple(
            device for device in hardware.rdma_devices if complete and _selected(device, selectors, modules)
        )
        count = maximum if devices else 0
        offered[short] = OfferedResource(name=name, count=count, rdma_devices=devices, shared=True)
    return list(offered.values())


def sriov(
    config: str, hardware: Hardware, modules: Collection[str], *, default_prefix: str = "intel.com"
) -> list[OfferedResource]:
    """The resources of sriov-network-device-plugin; one whose selectors match nothing is not offered at all.

    A device belongs to the first resource that selects it. modules: the kernel modules that the machine has loaded.
    default_prefix: the plugin's flag --resource-prefix. Raises PluginConfigError for what the plugin refuses.
    """
    offered: dict[str, OfferedResource] = {}
    names: set[str] = set()
    taken: set[str] = set()
    for entry, alternatives in _readable(_entries(_document(config), "resourceList")):
        name = f"{entry.get('resourcePrefix') or default_prefix}/{_resource_name(entry, _SRIOV_NAME)}"
        if name in names:
            raise PluginConfigError(f"{name}: the resource name already exists")
        names.add(name)
        if any(selectors.get("isRdma") and selectors.get("vdpaType") for selectors in alternatives):
            raise PluginConfigError(f"{name}: vdpaType and isRdma are mutually exclusive options")
        devices = tuple(
            device
            for device in hardware.rdma_devices
            if device.name not in taken and any(_selected(device, selectors, modules) for selectors in alternatives)
        )
        taken |= {device.name for device in devices}
        if devices and entry.get("deviceType", _NETWORK) == _NETWORK:
            offered[name] = OfferedResource(name=name, count=len(devices), rdma_devices=devices)
    return list(offered.values())


def _readable(entries: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], list[dict[str, Any]]]]:
    """The entries of the SR-IOV plugin with their alternative selectors; it passes over those that it cannot read."""
    readable = []
    for entry in entries:
        kind = entry.get("deviceType") or _NETWORK
        if kind not in _DEVICE_TYPES:
            raise PluginConfigError(f"unsupported deviceType {kind!r}; allowed are {', '.join(_DEVICE_TYPES)}")
        if "selectors" not in entry:
            raise PluginConfigError("an entry lacks selectors, at which the plugin panics")
        selectors = entry["selectors"]
        alternatives = selectors if isinstance(selectors, list) else [selectors]
        with contextlib.suppress(PluginConfigError):
            if alternatives:
                readable.append((entry, [_selectors(each, _SRIOV_SELECTORS, "selectors") for each in alternatives]))
    if not readable:
        raise PluginConfigError("no resource configuration; exiting")
    return readable


def gpus(hardware: Hardware, vendor: str = "nvidia") -> list[OfferedResource]:
    """The resource of NVIDIA's device plugin, or of the plugin of AMD: each knows only its vendor's GPUs."""
    count = len(hardware.gpus) if hardware.gpu_vendor == vendor else 0
    return [OfferedResource(name=f"{vendor}.com/gpu", count=count, gpus=True)]


def _document(config: str) -> Mapping[str, Any]:
    try:
        document = json.loads(config)
    except ValueError as error:
        raise PluginConfigError(f"{CONFIG_KEY} is not JSON: {error}") from error
    return document if isinstance(document, dict) else {}


def _entries(document: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    entries = document.get(key)
    if not isinstance(entries, list) or not entries:
        raise PluginConfigError(f"{CONFIG_KEY} has no list {key}")
    return entries


def _resource_name(entry: Mapping[str, Any], allowed: re.Pattern[str]) -> str:
    name = entry.get("resourceName")
    if not isinstance(name, str) or not name:
        raise PluginConfigError(f"an entry of {CONFIG_KEY} lacks a resourceName: {json.dumps(entry)}")
    if not allowed.fullmatch(name):
        raise PluginConfigError(f"the resource name {name} contains invalid characters; allowed is {allowed.pattern}")
    return name


def _selectors(given: Any, known: Sequence[str], name: str) -> dict[str, Any]:
    """The selectors that a plugin knows, by its own spelling."""
    if given is not None and not isinstance(given, dict):
        raise PluginConfigError(f"{name}: the selectors are {given!r}; a mapping is allowed")
    spelling = {key.lower(): key for key in known}
    selectors = {spelling[key.lower()]: value for key, value in (given or {}).items() if key.lower() in spelling}
    for key, value in selectors.items():
        if value is not None and key not in _NO_LISTS and not isinstance(value, list):
            raise PluginConfigError(f"{name}: the selector {key} is {value!r}; a list is allowed")
    return selectors


def _selected(device: RdmaDevice, selectors: Mapping[str, Any], modules: Collection[str]) -> bool:
    """True if every selector that is given names the device; the plugins' deviceIDs and devices are one.

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
        "pciAddresses": device.pci.address,
        "linkTypes": link_type if has_interface else "",
        "pKeys": f"0x{device.pkeys[0]:04x}" if device.pkeys and has_interface else "",
    }
    asked = {key: allowed for key, allowed in selectors.items() if allowed and key != "isRdma"}  # every device has RDMA
    return all(key in facts and facts[key] in allowed for key, allowed in asked.items())
