"""Findings about the RDMA device plugins: one runs, and yet nodes do not offer the resource."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aks_infiniband.diagnosis.known_messages import cause_in
from aks_infiniband.diagnosis.nodes import lacking
from aks_infiniband.diagnosis.view import Finding, Object, View, in_namespace, is_device_plugin, labelled, name_of
from aks_infiniband.facts.catalog import Mode
from aks_infiniband.facts.pool import Pool
from aks_infiniband.resources.metadata import NETWORK_OPERATOR_NAMESPACE


@dataclass(frozen=True, kw_only=True, slots=True)
class _Plugin:
    """Names that the Network Operator 26.4.1 gives a device plugin; a NicNodePolicy's have its name behind them."""

    daemon_set: str
    config_map: str
    entries: str
    """Key of the resources in its configuration."""


_SHARED: Final = _Plugin(daemon_set="rdma-shared-dp-ds", config_map="rdma-devices", entries="configList")
_SRIOV: Final = _Plugin(
    daemon_set="network-operator-sriov-device-plugin",
    config_map="network-operator-sriovdp-config",
    entries="resourceList",
)
_PLUGINS: Final[Mapping[Mode, _Plugin]] = {"rdma-shared": _SHARED, "ipoib": _SHARED, "sriov": _SRIOV}
_CONFIG_KEY: Final = "config.json"
_NO_MATCH: Final = (
    "the selectors match no device of these nodes (NVIDIA's HCAs have vendor 15b3 and link type infiniband), "
    "or the plugin has not registered yet"
)


def device_plugin_findings(view: View, pools: Sequence[Pool]) -> list[Finding]:
    """Why a device plugin that is ready offers nothing.

    Another resource name, what its log says, or selectors that match no device.
    """
    findings = []
    for pool in pools:
        plugin, resource = _PLUGINS.get(pool.mode), pool.rdma_resource
        if plugin is None or resource is None:
            continue
        names = lacking(labelled(view.nodes, pool.node_selector), resource, pool.rdma_quantity)
        for suffix in (f"-{pool.name}", ""):
            entries = _entries(view, plugin, suffix)
            if names and entries and _is_running(view, plugin.daemon_set + suffix):
                findings.append(_finding(view, resource, names, entries, plugin.daemon_set + suffix))
                break
    return findings


def _finding(
    view: View, resource: str, names: Sequence[str], entries: Sequence[dict[str, Any]], daemon_set: str
) -> Finding:
    command = f"kubectl -n {NETWORK_OPERATOR_NAMESPACE} logs daemonset/{daemon_set} --tail=50"
    offered = {_resource_name(entry): entry for entry in entries}
    where = ", ".join(names)
    if resource not in offered:
        what = (
            f"the RDMA device plugin is configured to offer {', '.join(offered)}, not {resource} (missing on {where})"
        )
        return Finding(what=what, cause="resource name of the policy and of the pool differ", command=command)
    selectors = json.dumps(offered[resource].get("selectors") or {})
    return Finding(
        what=f"the RDMA device plugin runs and offers no {resource} on {where}: its selectors are {selectors}",
        cause=_cause_in_logs(view, names) or _NO_MATCH,
        command=command,
    )


def _cause_in_logs(view: View, nodes: Sequence[str]) -> str | None:
    """What the log of a device plugin on one of the nodes says."""
    plugins = [pod for pod in in_namespace(view.pods, NETWORK_OPERATOR_NAMESPACE) if is_device_plugin(pod)]
    causes = [cause_in(view.logs.get(name_of(pod), "")) for pod in plugins if pod["spec"].get("nodeName") in nodes]
    return next(filter(None, causes), None)


def _is_running(view: View, daemon_set: str) -> bool:
    ours = in_namespace(view.daemon_sets, NETWORK_OPERATOR_NAMESPACE)
    return any(item["metadata"]["name"] == daemon_set and _is_ready(item) for item in ours)


def _is_ready(daemon_set: Object) -> bool:
    status = daemon_set.get("status") or {}
    return 0 < int(status.get("desiredNumberScheduled", 0)) <= int(status.get("numberReady", 0))


def _resource_name(entry: dict[str, Any]) -> str:
    return f"{entry.get('resourcePrefix') or 'rdma'}/{entry.get('resourceName')}"


def _entries(view: View, plugin: _Plugin, suffix: str) -> list[dict[str, Any]]:
    for config_map in in_namespace(view.config_maps, NETWORK_OPERATOR_NAMESPACE):
        if config_map["metadata"]["name"] == plugin.config_map + suffix:
            try:
                config = json.loads((config_map.get("data") or {}).get(_CONFIG_KEY) or "{}")
                return [dict(entry) for entry in config.get(plugin.entries) or []]
            except (ValueError, AttributeError):
                return []
    return []
