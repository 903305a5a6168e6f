"""The tests' calls to the Network Operator's reconcile."""

from typing import Any

from rehearsal.operators.network.ofed import kernel_hash
from rehearsal.operators.network.reconcile import reconcile
from rehearsal.operators.plan import Plan

NOW = "2026-01-01T01:00:00Z"
IMAGE = {"image": "thing", "repository": "registry/x", "version": "v1"}
SHARED = {**IMAGE, "config": '{"configList": []}'}
WAIT = "network.nvidia.com/operator.mofed.wait"
OFED = f"mofed-ubuntu24.04-{kernel_hash('6.8.0-1025-azure')}-ds"
AFFINITY = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]
    }
}


def plan_of(cluster: Any) -> Plan:
    return reconcile(cluster.snapshot(), now=NOW)


def made(cluster: Any, kind: str = "DaemonSet") -> dict[str, Any]:
    return {d["metadata"]["name"]: d for d in plan_of(cluster).objects if d["kind"] == kind}


def states(cluster: Any) -> dict[str, str]:
    status = cluster.objects["NicClusterPolicy"]["nic-cluster-policy"]["status"]
    return {state["name"]: state["state"] for state in status["appliedStates"]}


def whole(cluster: Any) -> str:
    return str(cluster.objects["NicClusterPolicy"]["nic-cluster-policy"]["status"]["state"])
