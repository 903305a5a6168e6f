"""What the RDMA device plugins are told to offer, what they say of it, and which nodes offer it."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aks_infiniband.diagnosis.asks import asks_of, by_device_plugin, is_rdma
from aks_infiniband.diagnosis.known_messages import message_in
from aks_infiniband.diagnosis.nodes import lacking
from aks_infiniband.diagnosis.nodes import offered as offers
from aks_infiniband.diagnosis.ownership import operators_pods, trusted_namespaces
from aks_infiniband.diagnosis.view import Finding, Object, View, condition, is_device_plugin, name_of

from aks_infiniband_cli.doctor.looks.operands import daemon_sets_with, infiniband_nodes
from aks_infiniband_cli.doctor.snapshot import Snapshot

_PLUGINS: Final = ("k8s-rdma-shared-dev-plugin", "sriov-network-device-plugin")
_SHARED: Final = "configList"
_LISTS: Final = (_SHARED, "resourceList")
"""Keys of the entries: of the shared device plugin, and of SR-IOV's."""
_MELLANOX: Final = "15b3"
_PRECISE: Final = ("linkTypes", "ifNames", "pfNames", "rootDevices", "pciAddresses", "deviceIDs", "devices")
"""What tells an HCA from the Ethernet device of accelerated networking, which has the same vendor and drivers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A resource that a device plugin is told to offer."""

    config_map: str
    resource: str
    """Such as rdma/shared_ib."""
    exclusive: bool
    """Whether the resource counts devices; otherwise it counts pods that share them."""
    selectors: Sequence[Mapping[str, Any]]
    """Which devices are meant: those that match everything in one of them."""

    @property
    def finds_infiniband(self) -> bool:
        """Whether an HCA of NVIDIA can match."""
        return any(map(_finds_infiniband, self.selectors))

    @property
    def finds_ethernet(self) -> bool:
        """Whether the Ethernet device of accelerated networking matches as well."""
        return any(
            _finds_infiniband(selector) and not any(selector.get(key) for key in _PRECISE)
            for selector in self.selectors
        )


def _finds_infiniband(selector: Mapping[str, Any]) -> bool:
    vendors, links = selector.get("vendors") or [_MELLANOX], selector.get("linkTypes") or ["infiniband"]
    return _MELLANOX in vendors and bool({"infiniband", "IB"} & set(links))


def entries_of(snapshot: Snapshot) -> list[Entry]:
    """What every device plugin of the cluster is told to offer, without configuration that is no JSON."""
    found: list[Entry] = []
    for config_map in snapshot.view.config_maps:
        try:
            config = json.loads((config_map.get("data") or {}).get("config.json") or "{}")
        except ValueError:
            continue
        for key in _LISTS:
            found += [_entry(config_map, given, shared=key == _SHARED) for given in config.get(key) or []]
    return found


def _entry(config_map: Object, given: Mapping[str, Any], *, shared: bool) -> Entry:
    selectors = given.get("selectors") or {}
    default = "rdma" if shared else "intel.com"
    return Entry(
        config_map=name_of(config_map),
        resource=f"{given.get('resourcePrefix') or default}/{given.get('resourceName')}",
        exclusive=not shared,
        selectors=selectors if isinstance(selectors, list) else [selectors],
    )


def configuration(snapshot: Snapshot) -> Iterator[Finding]:
    """Selectors that match no HCA, or the Ethernet device as well; resources that nobody offers."""
    entries = entries_of(snapshot)
    useful = {entry.config_map for entry in entries if entry.finds_infiniband}
    for entry in entries:
        about, selectors = f"ConfigMap {entry.config_map}", " or ".join(map(json.dumps, entry.selectors))
        if entry.config_map not in useful:
            what = f"{entry.resource} is offered for devices that match {selectors}"
            yield Finding(symptom="device-plugin-selectors", about=about, what=what)
        if entry.finds_ethernet:
            what = f"{entry.resource} is offered for every device that matches {selectors}"
            yield Finding(symptom="device-plugin-ethernet", about=about, what=what)
    yield from _asked_for_in_vain(snapshot)


def offered_rdma(snapshot: Snapshot) -> set[str]:
    """Names of the resources that the cluster's RDMA device plugins are told to offer."""
    return {entry.resource for entry in entries_of(snapshot)}


def _unknown(pod: Object, snapshot: Snapshot) -> set[str]:
    """Resources of HCAs that a pod asks for, and that no device plugin is told to offer and no node has."""
    told, nodes = offered_rdma(snapshot), snapshot.view.nodes
    asked = [name for name in asks_of(pod).resources if is_rdma(name) and by_device_plugin(name)] if told else []
    return {name for name in asked if name not in told and not any(offers(node, name) for node in nodes)}


def _asked_for_in_vain(snapshot: Snapshot) -> Iterator[Finding]:
    """Pending pods that ask for an RDMA resource by a name that no device plugin offers."""
    for pod in snapshot.view.pods:
        unknown = _unknown(pod, snapshot)
        if unknown and condition(pod, "PodScheduled").get("status") == "False":
            offer = ", ".join(sorted(offered_rdma(snapshot)))
            what = f"pod {name_of(pod)} asks for {', '.join(sorted(unknown))}; offered is {offer}"
            yield Finding(symptom="resource-name", about=f"pod {name_of(pod)}", what=what)


def renamed(snapshot: Snapshot) -> Iterator[Finding]:
    """Resources that running pods hold, and that no device plugin offers any more."""
    holders: dict[str, list[str]] = {}
    for pod in snapshot.view.pods:
        running = (pod.get("status") or {}).get("phase") == "Running"
        for name in sorted(_unknown(pod, snapshot)) if running and not pod["metadata"].get("deletionTimestamp") else ():
            holders.setdefault(name, []).append(name_of(pod))
    for name, pods in holders.items():
        what = f"{', '.join(pods[:3])} hold {name}; offered is {', '.join(sorted(offered_rdma(snapshot)))}"
        yield Finding(symptom="resource-renamed", about=f"resource {name}", what=what)


def logs(snapshot: Snapshot) -> Iterator[Finding]:
    """What running and ready device plugins say on nodes that offer nothing.

    Where pools differ, one plugin is told of every pool's devices. It is right that it has none for some of the
    entries.
    """
    idle = idle_nodes(snapshot)
    for pod in filter(is_device_plugin, operators_pods(snapshot.view.pods, trusted_namespaces(snapshot.view))):
        log = snapshot.view.logs.get(name_of(pod), "")
        message = message_in(log) if pod["spec"].get("nodeName") in idle else None
        if message:
            what = _line_with(message.pattern, log)
            command = f"kubectl -n {pod['metadata']['namespace']} logs {pod['metadata']['name']} --tail=50"
            yield Finding(symptom=message.id, about=f"pod {name_of(pod)}", what=what, command=command)


def idle_nodes(snapshot: Snapshot) -> set[str]:
    """Names of the nodes that offer none of what a device plugin of the cluster is to offer."""
    names = offered_rdma(snapshot)
    return {name_of(node) for node in snapshot.view.nodes if all(lacking([node], name, 1) for name in names)}


def _line_with(pattern: str, log: str) -> str:
    return next((line.strip() for line in log.splitlines() if re.search(pattern, line)), log.strip()[-200:])


def offered(snapshot: Snapshot) -> Iterator[Finding]:
    """Nodes with InfiniBand that offer none of what a device plugin of the cluster is to offer."""
    view = snapshot.view
    names = offered_rdma(snapshot)
    for node in infiniband_nodes(view) if names and _plugin_runs(view) else ():
        if all(lacking([node], name, 1) for name in names):
            what = f"node {name_of(node)} offers none of {', '.join(sorted(names))}"
            command = f"kubectl describe node {name_of(node)}"
            yield Finding(symptom="rdma-not-offered", about=f"node {name_of(node)}", what=what, command=command)


def _plugin_runs(view: View) -> bool:
    return bool(daemon_sets_with(view, *_PLUGINS))
