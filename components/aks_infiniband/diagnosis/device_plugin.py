"""Findings about the RDMA device plugin: it runs, and yet nodes do not offer the resource."""

import json
from collections.abc import Sequence
from typing import Any, Final

from aks_infiniband.diagnosis.nodes import lacking
from aks_infiniband.diagnosis.view import Finding, Object, View, in_namespace, matches
from aks_infiniband.metadata import NETWORK_OPERATOR_NAMESPACE
from aks_infiniband.pool import Pool

_DAEMON_SET: Final = "rdma-shared-dp-ds"
_CONFIG_MAP: Final = "rdma-devices"
_CONFIG_KEY: Final = "config.json"
"""Names that the Network Operator 26.4.1 gives the shared RDMA device plugin and its configuration."""


def device_plugin_findings(view: View, pools: Sequence[Pool]) -> list[Finding]:
    """Why a device plugin that is ready offers nothing: another resource name, or selectors that match no device."""
    ours = in_namespace(view.daemon_sets, NETWORK_OPERATOR_NAMESPACE)
    running = [one for one in ours if one["metadata"]["name"] == _DAEMON_SET and _is_ready(one)]
    entries = _entries(view)
    if not running or not entries:
        return []
    findings = []
    for pool in pools:
        members = [node for node in view.nodes if matches(node["metadata"].get("labels"), pool.node_selector)]
        names = lacking(members, pool.rdma_resource, pool.rdma_quantity)
        if names:
            findings.append(_finding(pool.rdma_resource, names, entries))
    return findings


def _finding(resource: str, names: Sequence[str], entries: Sequence[dict[str, Any]]) -> Finding:
    command = f"kubectl -n {NETWORK_OPERATOR_NAMESPACE} logs daemonset/{_DAEMON_SET} --tail=50"
    offered = {_resource_name(entry): entry for entry in entries}
    where = ", ".join(names)
    if resource not in offered:
        what = (
            f"the RDMA device plugin is configured to offer {', '.join(offered)}, not {resource} (missing on {where})"
        )
        return Finding(what=what, cause="resource name of the NicClusterPolicy and of the pool differ", command=command)
    selectors = json.dumps(offered[resource].get("selectors") or {})
    return Finding(
        what=f"the RDMA device plugin runs and offers no {resource} on {where}: its selectors are {selectors}",
        cause="the selectors match no device of these nodes (NVIDIA's HCAs have vendor 15b3 and link type infiniband), "
        "or the plugin has not registered yet",
        command=command,
    )


def _is_ready(daemon_set: Object) -> bool:
    status = daemon_set.get("status") or {}
    return 0 < int(status.get("desiredNumberScheduled", 0)) <= int(status.get("numberReady", 0))


def _resource_name(entry: dict[str, Any]) -> str:
    return f"{entry.get('resourcePrefix') or 'rdma'}/{entry.get('resourceName')}"


def _entries(view: View) -> list[dict[str, Any]]:
    for config_map in in_namespace(view.config_maps, NETWORK_OPERATOR_NAMESPACE):
        if config_map["metadata"]["name"] == _CONFIG_MAP:
            try:
                config = json.loads((config_map.get("data") or {}).get(_CONFIG_KEY) or "{}")
                return [dict(entry) for entry in config.get("configList") or []]
            except (ValueError, AttributeError):
                return []
    return []
