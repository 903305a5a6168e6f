"""Clusters as a diagnosis sees them, and what it says of them."""

from typing import Any

from aks_infiniband.diagnosis.diagnose import diagnose, render
from aks_infiniband.diagnosis.pods import job_findings
from aks_infiniband.diagnosis.view import Wait

from tests.some_pools import pool

NIC = "feature.node.kubernetes.io/pci-15b3.present"
GPU = "feature.node.kubernetes.io/pci-10de.present"
POOL = pool(node_selector={"agentpool": "ndh100"})
JOB = Wait(waiting_for="job", name="validate-1", namespace="aks-infiniband")
NIC_POLICY = Wait(waiting_for="nic-cluster-policy", name="nic-cluster-policy")


def node(name: Any, *, ready: Any = "True", labels: Any = None, cordoned: Any = False, **allocatable: Any) -> Any:
    return {
        "metadata": {"name": name, "labels": {"agentpool": "ndh100", NIC: "true", GPU: "true"} | (labels or {})},
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {
            "conditions": [{"type": "Ready", "status": ready, "reason": "NodeStatusUnknown", "message": "no answer"}],
            "allocatable": {"nvidia.com/gpu": "8", "rdma/shared_ib": "63"} | allocatable,
        },
    }


def bare(name: Any) -> Any:
    return {
        "metadata": {"name": name, "labels": {"agentpool": "ndh100"}},
        "status": {"conditions": [{"type": "Ready", "status": "True"}], "allocatable": {"cpu": "8"}},
    }


def pod(
    name: Any,
    namespace: Any = "aks-infiniband",
    *,
    owner: Any = "uid-1",
    phase: Any = "Running",
    spec: Any = None,
    **status: Any,
) -> Any:
    return {
        "metadata": {"name": name, "namespace": namespace, "ownerReferences": [{"uid": owner}]},
        "spec": {"nodeName": "n0", "containers": []} | (spec or {}),
        "status": {"phase": phase, **status},
    }


def job(**status: Any) -> Any:
    return {"metadata": {"name": "validate-1", "namespace": "aks-infiniband", "uid": "uid-1"}, "status": status}


def daemon_set(
    name: Any,
    namespace: Any = "network-operator",
    *,
    desired: Any = 2,
    ready: Any = 2,
    selector: Any = None,
    affinity: Any = None,
) -> Any:
    template = {"spec": {"nodeSelector": selector or {}, "affinity": affinity or {}}}
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"template": template},
        "status": {"desiredNumberScheduled": desired, "numberReady": ready},
    }


def policy(kind: Any = "NicClusterPolicy", **status: Any) -> Any:
    return {"kind": kind, "metadata": {"name": kind.lower()}, "status": status}


def said(wait: Any, view: Any, pools: Any = (POOL,), explain: Any = job_findings) -> Any:
    return render(wait, diagnose(wait, view, pools, explain), view.unread)


HEALTHY = [node("n0"), node("n1")]
