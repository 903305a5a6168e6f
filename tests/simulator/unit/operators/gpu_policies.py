"""A ClusterPolicy and a cluster for tests of the GPU Operator."""

from typing import Any

NOW = "2026-01-01T01:00:00Z"
IMAGE = {"repository": "registry/x", "image": "thing", "version": "v1"}
TOLERATION = {"key": "sku", "operator": "Exists", "effect": "NoSchedule"}
SPEC: dict[str, Any] = {
    "operator": {"runtimeClass": "nvidia"},
    "daemonsets": {"tolerations": [TOLERATION], "priorityClassName": "system-node-critical"},
    "driver": {**IMAGE, "enabled": True, "rdma": {"enabled": True, "useHostMofed": False}, "manager": IMAGE},
    "toolkit": {**IMAGE, "enabled": True, "env": [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]},
    "devicePlugin": {**IMAGE, "enabled": True},
    "dcgm": {**IMAGE, "enabled": False},
    "dcgmExporter": {**IMAGE, "enabled": True},
    "gfd": {**IMAGE, "enabled": True},
    "migManager": {**IMAGE, "enabled": False},
    "nodeStatusExporter": {"enabled": False},
    "validator": {"repository": "registry/x", "image": "validator"},
}


def apply_policy(cluster: Any, **changes: Any) -> Any:
    return cluster.policy({**SPEC, **changes}, kind="ClusterPolicy", name="cluster-policy")
