"""The configuration of the RDMA device plugins, their own words on it, and the nodes that offer its resources."""

import json
from collections.abc import Iterator
from typing import Final

from aks_infiniband.diagnosis.asks import asks_of, by_device_plugin, is_rdma
from aks_infiniband.diagnosis.device_plugins import Entry, entries
from aks_infiniband.diagnosis.nodes import lacking
from aks_infiniband.diagnosis.nodes import offered as offers
from aks_infiniband.diagnosis.ownership import operators_pods, trusted_namespaces
from aks_infiniband.diagnosis.view import Finding, Object, View, condition, is_device_plugin, name_of
from aks_infiniband.facts.words import Words, found_in

from aks_infiniband_cli.doctor.looks.operands import daemon_sets_with, infiniband_nodes
from aks_infiniband_cli.doctor.snapshot import Snapshot

_PLUGINS: Final = ("k8s-rdma-shared-dev-plugin", "sriov-network-device-plugin")


def entries_of(snapshot: Snapshot) -> list[Entry]:
    """The entries in the configuration of every device plugin of the cluster, without configuration that cannot be
    read.
    """
    return [
        entry
        for config_map in snapshot.view.config_maps
        for entry in entries(
            (config_map.get("data") or {}).get("config.json") or "", f"ConfigMap {name_of(config_map)}"
        )
    ]


def configuration(snapshot: Snapshot) -> Iterator[Finding]:
    """Selectors that match no HCA, or the Ethernet device as well; resources that no node offers."""
    told = entries_of(snapshot)
    useful = {entry.where for entry in told if entry.finds_infiniband}
    for entry in told:
        about, selectors = entry.where, " or ".join(map(json.dumps, entry.selectors))
        if entry.where not in useful:
            what = f"{entry.resource} is offered for devices that match {selectors}"
            yield Finding(symptom="device-plugin-selectors", about=about, what=what)
        if entry.finds_ethernet:
            what = f"{entry.resource} is offered for every device that matches {selectors}"
            yield Finding(symptom="device-plugin-ethernet", about=about, what=what)
    yield from _asked_for_in_vain(snapshot)


def offered_rdma(snapshot: Snapshot) -> set[str]:
    """Names of the resources in the configuration of the cluster's RDMA device plugins."""
    return {entry.resource for entry in entries_of(snapshot)}


def _unknown(pod: Object, snapshot: Snapshot) -> set[str]:
    """Resources of HCAs that a pod requests, and that no device plugin's configuration and no node has."""
    told, nodes = offered_rdma(snapshot), snapshot.view.nodes
    asked = [name for name in asks_of(pod).resources if is_rdma(name) and by_device_plugin(name)] if told else []
    return {name for name in asked if name not in told and not any(offers(node, name) for node in nodes)}


def _asked_for_in_vain(snapshot: Snapshot) -> Iterator[Finding]:
    """Pending pods that request an RDMA resource by a name that no device plugin offers."""
    for pod in snapshot.view.pods:
        unknown = _unknown(pod, snapshot)
        if unknown and condition(pod, "PodScheduled").get("status") == "False":
            offer = ", ".join(sorted(offered_rdma(snapshot)))
            what = f"pod {name_of(pod)} requests {', '.join(sorted(unknown))}; the nodes offer {offer}"
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
    """Words of running and ready device plugins on nodes that offer nothing.

    If pools differ, one plugin's configuration has every pool's devices. The plugin rightly lacks devices for some of
    the entries.
    """
    idle = idle_nodes(snapshot)
    for pod in filter(is_device_plugin, operators_pods(snapshot.view.pods, trusted_namespaces(snapshot.view))):
        log = snapshot.view.logs.get(name_of(pod), "")
        message = found_in(log) if pod["spec"].get("nodeName") in idle else None
        if message and message.id:
            what = _line_with(message, log)
            command = f"kubectl -n {pod['metadata']['namespace']} logs {pod['metadata']['name']} --tail=50"
            yield Finding(symptom=message.id, about=f"pod {name_of(pod)}", what=what, command=command)


def idle_nodes(snapshot: Snapshot) -> set[str]:
    """Names of the nodes that offer none of what a device plugin of the cluster is to offer."""
    names = offered_rdma(snapshot)
    return {name_of(node) for node in snapshot.view.nodes if all(lacking([node], name, 1) for name in names)}


def _line_with(words: Words, log: str) -> str:
    return next((line.strip() for line in log.splitlines() if words.found_in(line)), log.strip()[-200:])


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
