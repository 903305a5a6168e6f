"""Findings about nodes: not Ready, missing, or lacking a resource that the pool promises.

A node can lack a resource although the RDMA device plugin runs on it; why it does is found here too.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from aks_infiniband.diagnosis.device_plugins import SHARED, WHOLE, Entry, Plugin, entries
from aks_infiniband.diagnosis.holds import condition_findings, cordoned
from aks_infiniband.diagnosis.repairs import repair_findings
from aks_infiniband.diagnosis.view import (
    Finding,
    Object,
    View,
    condition,
    in_namespace,
    is_device_plugin,
    labelled,
    name_of,
    pairs,
    shown_by,
)
from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.words import found_in
from aks_infiniband.resources.metadata import NETWORK_OPERATOR_NAMESPACE
from aks_infiniband.resources.quantities import quantity


@dataclass(frozen=True, kw_only=True, slots=True)
class _Plugin:
    """Names that the Network Operator gives a device plugin. The ConfigMap of a NicNodePolicy has its name as suffix,
    and so has the DaemonSet up to 26.7.0-rc.2; later releases have a hash there (Mellanox/network-operator b06827e,
    pkg/state/state_skel.go, hashedNameSuffix).
    """

    section: Plugin
    daemon_set: str
    config_map: str


_SHARED: Final = _Plugin(section=SHARED, daemon_set="rdma-shared-dp-ds", config_map="rdma-devices")
_SRIOV: Final = _Plugin(
    section=WHOLE,
    daemon_set="network-operator-sriov-device-plugin",
    config_map="network-operator-sriovdp-config",
)
_PLUGINS: Final[Mapping[str, _Plugin]] = {plugin.section: plugin for plugin in (_SHARED, _SRIOV)}
"""By the section of the NicClusterPolicy that installs it."""
_CONFIG_KEY: Final = "config.json"
_DOWN: Final = "a driver container that reloads the network or restarts containerd takes its node down"
_SILENT: Final = f"the machine is off, restarts or is cut off; or {_DOWN}"
_NO_MATCH: Final = (
    "the selectors match no device of these nodes (NVIDIA's HCAs have vendor 15b3 and link type infiniband), "
    "or the plugin has not registered yet"
)


def node_findings(view: View, pools: Sequence[Pool]) -> Iterator[Finding]:
    """Nodes that are not Ready or are cordoned, and per pool those that are missing or lack a resource."""
    yield from missing_node_findings(view, pools)
    for pool in pools:
        members = labelled(view.nodes, pool.node_selector)
        for resource, least in sorted(pool.promised_resources.items()):
            if names := lacking(members, resource, least):
                what = (
                    f"pool {pool.name}: {', '.join(names)} offer less than {least} of {resource}, so pods that request "
                    "it stay Pending"
                )
                yield Finding(what=what, command=f"kubectl describe node {names[0]}")


def missing_node_findings(view: View, pools: Sequence[Pool]) -> Iterator[Finding]:
    """Nodes that AKS repairs, are not Ready, are cordoned or not well, and per pool those that are missing."""
    yield from repair_findings(view)
    yield from filter(None, map(_out_of_service, view.nodes))
    for node in view.nodes:
        yield from condition_findings(node)
    for pool in pools:
        joined = len(labelled(view.nodes, pool.node_selector))
        if joined < pool.node_count:
            what = f"pool {pool.name}: {joined} of {pool.node_count} nodes have joined the cluster"
            yield Finding(what=what, command=f"kubectl get nodes -l {pairs(pool.node_selector, ',')}")


def lacking(nodes: Sequence[Object], resource: str, least: int | Decimal) -> list[str]:
    """Names of the nodes that offer less than `least` of a resource."""
    return sorted(str(node["metadata"]["name"]) for node in nodes if offered(node, resource) < least)


def offered(node: Object, resource: str) -> Decimal:
    """The amount of a resource that a node offers to pods."""
    return quantity(((node.get("status") or {}).get("allocatable") or {}).get(resource, 0))


def _out_of_service(node: Object) -> Finding | None:
    ready = condition(node, "Ready")
    if ready.get("status") != "True":
        reason = f"{ready.get('reason', 'no Ready condition')}: {ready.get('message', '')}".rstrip(": ")
        cause = _SILENT if ready.get("status") == "Unknown" else _DOWN
        return shown_by("node", node, "node-not-ready", f" is not Ready ({reason})", cause=cause)
    return cordoned(node)


def device_plugin_findings(view: View, pools: Sequence[Pool]) -> Iterator[Finding]:
    """Why a device plugin that is ready offers nothing.

    Another resource name, what its log says, or selectors that match no device.
    """
    for pool in pools:
        plugin, resource = _PLUGINS.get(pool.access.device_plugin or ""), pool.rdma_resource
        if plugin is None or resource is None:
            continue
        names = lacking(labelled(view.nodes, pool.node_selector), resource, pool.rdma_quantity)
        for policy in (pool.name, None):
            told, daemon_set = _entries(view, plugin, policy), _running(view, plugin, policy)
            if names and told and daemon_set:
                yield _finding(view, resource, names, told, daemon_set)
                break


def _finding(view: View, resource: str, names: Sequence[str], told: Sequence[Entry], daemon_set: str) -> Finding:
    command = f"kubectl -n {NETWORK_OPERATOR_NAMESPACE} logs daemonset/{daemon_set} --tail=50"
    offered = {entry.resource: entry for entry in told}
    where = ", ".join(names)
    if resource not in offered:
        what = (
            f"the RDMA device plugin is configured to offer {', '.join(offered)}, not {resource} (missing on {where})"
        )
        return Finding(what=what, cause="resource name of the policy and of the pool differ", command=command)
    selectors = ", ".join(map(json.dumps, offered[resource].selectors))
    return Finding(
        what=f"the RDMA device plugin runs and offers no {resource} on {where}: its selectors are {selectors}",
        cause=_cause_in_logs(view, names) or _NO_MATCH,
        command=command,
    )


def _cause_in_logs(view: View, nodes: Sequence[str]) -> str | None:
    """The cause in the log of a device plugin on one of the nodes."""
    plugins = [pod for pod in in_namespace(view.pods, NETWORK_OPERATOR_NAMESPACE) if is_device_plugin(pod)]
    logs = [view.logs.get(name_of(pod), "") for pod in plugins if pod["spec"].get("nodeName") in nodes]
    return next((str(message) for message in map(found_in, logs) if message), None)


def _running(view: View, plugin: _Plugin, policy: str | None) -> str | None:
    """The name of a plugin's DaemonSet whose pods are all ready. policy: the NicNodePolicy that requires it; None: the
    NicClusterPolicy.
    """
    for item in in_namespace(view.daemon_sets, NETWORK_OPERATOR_NAMESPACE):
        name, status = str(item["metadata"]["name"]), item.get("status") or {}
        is_ready = 0 < status.get("desiredNumberScheduled", 0) <= status.get("numberReady", 0)
        if is_ready and (name == plugin.daemon_set + _suffix(policy) or _is_of(item, plugin, policy)):
            return name
    return None


def _is_of(daemon_set: Object, plugin: _Plugin, policy: str | None) -> bool:
    owners = [(owner["kind"], owner["name"]) for owner in daemon_set["metadata"].get("ownerReferences") or ()]
    return ("NicNodePolicy", policy) in owners and daemon_set["metadata"]["name"].startswith(f"{plugin.daemon_set}-")


def _suffix(policy: str | None) -> str:
    return "" if policy is None else f"-{policy}"


def _entries(view: View, plugin: _Plugin, policy: str | None) -> list[Entry]:
    name = plugin.config_map + _suffix(policy)
    for item in in_namespace(view.config_maps, NETWORK_OPERATOR_NAMESPACE):
        if item["metadata"]["name"] == name:
            return entries((item.get("data") or {}).get(_CONFIG_KEY) or "", f"ConfigMap {name}", [plugin.section])
    return []
