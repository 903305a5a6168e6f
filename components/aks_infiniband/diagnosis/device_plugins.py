"""The resources in the configuration of HCAs' device plugins: the one reader of it, wherever that stands."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

Plugin = Literal["rdmaSharedDevicePlugin", "sriovDevicePlugin"]
"""The section of a NicClusterPolicy that installs the plugin."""
SHARED: Final[Plugin] = "rdmaSharedDevicePlugin"
WHOLE: Final[Plugin] = "sriovDevicePlugin"
LIST: Final[Mapping[Plugin, str]] = {SHARED: "configList", WHOLE: "resourceList"}
"""By plugin, the key of the entries in its configuration."""
_DEFAULT_PREFIX: Final[Mapping[Plugin, str]] = {SHARED: "rdma", WHOLE: "nvidia.com"}
"""Prefix of the plugins' resources (k8s-rdma-shared-dev-plugin, README; Network Operator v26.4.1,
manifests/state-sriov- device-plugin).
"""
_MELLANOX: Final = "15b3"
_PRECISE: Final = ("linkTypes", "ifNames", "pfNames", "rootDevices", "pciAddresses", "deviceIDs", "devices")
"""Selectors that distinguish an HCA from the Ethernet device of accelerated networking, which has the same vendor and
drivers.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A resource in a device plugin's configuration."""

    where: str
    """The object that has the configuration, such as NicClusterPolicy nic-cluster-policy."""
    plugin: Plugin
    """The plugin that has the configuration."""
    resource: str
    """Such as rdma/shared_ib."""
    selectors: Sequence[Mapping[str, Any]]
    """The devices of the resource: those that match everything in one of them."""

    @property
    def exclusive(self) -> bool:
        """True if the resource counts devices; otherwise it counts pods that share them."""
        return self.plugin == WHOLE

    @property
    def finds_infiniband(self) -> bool:
        """True if an HCA of NVIDIA can match."""
        return any(map(_finds_infiniband, self.selectors))

    @property
    def finds_ethernet(self) -> bool:
        """True if the Ethernet device of accelerated networking matches as well."""
        return any(
            _finds_infiniband(selector) and not any(selector.get(key) for key in _PRECISE)
            for selector in self.selectors
        )


def _finds_infiniband(selector: Mapping[str, Any]) -> bool:
    vendors, links = selector.get("vendors") or [_MELLANOX], selector.get("linkTypes") or ["infiniband"]
    return _MELLANOX in vendors and bool({"infiniband", "IB"} & set(links))


def given_entries(config: str, plugin: Plugin) -> list[Mapping[str, Any]]:
    """The entries of a plugin in a configuration, as they are written; none in one that cannot be read."""
    try:
        entries = list(json.loads(config)[LIST[plugin]] or ())
    except (ValueError, LookupError, TypeError):
        return []
    return entries if all(isinstance(entry, Mapping) and entry.get("resourceName") for entry in entries) else []


def entries(config: str, where: str, plugins: Sequence[Plugin] = (SHARED, WHOLE)) -> list[Entry]:
    """The resources in a configuration of plugins. `where`: the object that has it."""
    return [_entry(item, where, plugin) for plugin in plugins for item in given_entries(config, plugin)]


def _entry(item: Mapping[str, Any], where: str, plugin: Plugin) -> Entry:
    selectors = item.get("selectors") or {}
    return Entry(
        where=where,
        plugin=plugin,
        resource=f"{item.get('resourcePrefix') or _DEFAULT_PREFIX[plugin]}/{item['resourceName']}",
        selectors=selectors if isinstance(selectors, list) else [selectors],
    )
