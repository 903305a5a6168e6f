"""Policies of operators that others keep: what is said of them."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from aks_infiniband.operators import existing_gpu_operator
from aks_infiniband.operators.existing_network_operator import Judge
from aks_infiniband.operators.nic_policy import nic_policy_specs

from tests.cases import Case, patched
from tests.unit.components.cases.pools import pools_of

NIC: Final = "feature.node.kubernetes.io/pci-15b3.present"
GPU: Final = "feature.node.kubernetes.io/pci-10de.present"
_BY_AKS: Final = {
    "driver": {"enabled": False, "rdma": "gone"},
    "toolkit": {"enabled": False},
    "operator": {"runtimeClass": "nvidia-container-runtime"},
}


def gpu_policy(change: Any) -> Any:
    """A ClusterPolicy that suits the usual pool, or with `by: aks` a pool with the driver of AKS, with a change."""
    usual = {
        "kind": "ClusterPolicy",
        "metadata": {"name": "cluster-policy", "labels": {"app.kubernetes.io/version": "v26.3.3"}},
        "spec": {"driver": {"enabled": True, "rdma": {"enabled": True}}, "toolkit": {"enabled": True}},
        "status": {"state": "ready", "conditions": [{"type": "Error", "message": "operands not ready: driver"}]},
    }
    of_aks = patched(usual, {"spec": _BY_AKS}) if change.get("by") == "aks" else usual
    return patched(of_aks, {key: value for key, value in change.items() if key != "by"})


def gpu_node(change: Any) -> Any:
    """A node of the usual pool, with a change."""
    runtime = {"containerRuntimeVersion": "containerd://2.1.6"}
    usual = {
        "metadata": {"name": "n0", "labels": {"kubernetes.azure.com/agentpool": "ndh100"}},
        "status": {"nodeInfo": runtime, "allocatable": {"nvidia.com/gpu": "0"}},
    }
    return patched(usual, change)


def outcome_of_gpus(case: Case) -> dict[str, list[str]]:
    """The faults of a ClusterPolicy for some pools, and the remarks on it."""
    policy, pools = gpu_policy(case.get("policy", {})), pools_of(case)
    nodes = [gpu_node(change) for change in case.get("nodes", [])]
    said = {
        "unsuitable": list(existing_gpu_operator.unsuitable(policy, pools, nodes)),
        "remarks": list(existing_gpu_operator.remarks(policy, pools, nodes)),
    }
    return {kind: lines for kind, lines in said.items() if lines}


def nic_policy(change: Any) -> Any:
    """A NicClusterPolicy that suits the usual pool, with a change. `offers` is the resource of its device plugin."""
    spec = nic_policy_specs(pools_of({})).cluster
    late = [{"name": "state-OFED", "state": "notReady"}, {"name": "state-RDMA-device-plugin", "state": "ready"}]
    usual = {
        "kind": "NicClusterPolicy",
        "metadata": {"name": "nic-cluster-policy"},
        "spec": spec,
        "status": {"state": "ready", "appliedStates": late},
    }
    if "offers" in change:
        config = json.dumps({"configList": [{"resourceName": change["offers"], "rdmaHcaMax": 8}]})
        usual = patched(usual, {"spec": {"rdmaSharedDevicePlugin": {"config": config}}})
    return patched(usual, {key: value for key, value in change.items() if key != "offers"})


def outcome_of_nics(case: Case) -> list[list[str]]:
    """The lacks of policies and nodes for a pool, each with the remedy. `policies` and `labels` are not the usual."""
    (pool,) = pools_of(case)
    labels = case.get("labels", [NIC, GPU])
    node = {"metadata": {"name": "n0", "labels": {**pool.node_selector, **dict.fromkeys(labels, "true")}}}
    policies = [nic_policy(change) for change in case.get("policies", [{}])]
    judge = Judge(
        policies=policies, nodes=[node], specs=nic_policy_specs([pool]), finds_gpus=case.get("finds_gpus", False)
    )
    return [list(pair) for pair in judge.lacking()]


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {"gpus": outcome_of_gpus, "nics": outcome_of_nics}
"""By the first word of a file's name, what gives the outcome of a case."""
