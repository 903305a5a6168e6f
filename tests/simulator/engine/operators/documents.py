"""The documents that the tests of the operators apply, and their reads of the cluster then."""

from typing import Any

from tests.rehearsal.simulated_nodes import GPU_NODES

POLICY_NAME = "nic-cluster-policy"
RULE = {
    "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
    "kind": "NodeFeatureRule",
    "metadata": {"name": "adapters"},
    "spec": {
        "rules": [
            {
                "name": "virtual functions",
                "labels": {"feature.node.kubernetes.io/pci-15b3.present": "true"},
                "matchFeatures": [
                    {
                        "feature": "pci.device",
                        "matchExpressions": {
                            "vendor": {"op": "In", "value": ["15b3"]},
                            "device": {"op": "In", "value": ["101e"]},
                            "class": {"op": "In", "value": ["0207"]},
                        },
                    }
                ],
            }
        ]
    },
}
IMAGE = {"repository": "registry.invalid/x", "version": "v1"}
CONFIG = (
    '{"configList": [{"resourceName": "shared_ib", "rdmaHcaMax": 63,'
    ' "selectors": {"vendors": ["15b3"], "linkTypes": ["infiniband"]}}]}'
)
POLICY: dict[str, Any] = {
    "apiVersion": "mellanox.com/v1alpha1",
    "kind": "NicClusterPolicy",
    "metadata": {"name": POLICY_NAME},
    "spec": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {
                        "matchExpressions": [
                            {
                                "key": "feature.node.kubernetes.io/pci-15b3.present",
                                "operator": "In",
                                "values": ["true"],
                            }
                        ]
                    }
                ]
            }
        },
        "ofedDriver": {
            **IMAGE,
            "image": "doca-driver",
            "env": [{"name": "OFED_BLACKLIST_MODULES_FILE", "value": "/host/etc/modprobe.d/blacklist.conf"}],
            "startupProbe": {"initialDelaySeconds": 10, "periodSeconds": 20},
            "upgradePolicy": {
                "autoUpgrade": True,
                "maxParallelUpgrades": 1,
                "drain": {"enable": True, "force": True, "deleteEmptyDir": True, "timeoutSeconds": 300},
            },
        },
        "rdmaSharedDevicePlugin": {**IMAGE, "image": "k8s-rdma-shared-dev-plugin", "config": CONFIG},
        "docaTelemetryService": {**IMAGE, "image": "doca_telemetry"},
    },
}


def offers(installed: Any) -> list[tuple[str | None, str | None]]:
    found = [installed.get("node", name)["status"]["allocatable"] for name in GPU_NODES]
    return [(allocatable.get("rdma/shared_ib"), allocatable.get("nvidia.com/gpu")) for allocatable in found]


def training(installed: Any) -> list[str]:
    """Names of the workload's running pods."""
    pods = installed.get("pods", "-n", "default", "-l", "app=training") or ()
    running = [pod for pod in pods if pod["status"].get("phase") == "Running"]
    return [pod["metadata"]["name"] for pod in running if "deletionTimestamp" not in pod["metadata"]]


WORKLOAD = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "training", "namespace": "default"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "training"}},
        "template": {
            "metadata": {"labels": {"app": "training"}},
            "spec": {
                "containers": [
                    {
                        "name": "main",
                        "image": "registry.invalid/training",
                        "resources": {"limits": {"rdma/shared_ib": 1}},
                        "volumeMounts": [{"name": "dshm", "mountPath": "/dev/shm"}],
                    }
                ],
                "volumes": [{"name": "dshm", "emptyDir": {"medium": "Memory"}}],
            },
        },
    },
}


def attached_pod() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "attached",
            "namespace": "default",
            "annotations": {"k8s.v1.cni.cncf.io/networks": "ib"},
        },
        "spec": {
            "nodeSelector": {"kubernetes.io/hostname": GPU_NODES[1]},
            "containers": [{"name": "main", "image": "registry.invalid/main"}],
        },
    }


def policy_state(installed: Any) -> str:
    policy = installed.get("nicclusterpolicies", POLICY_NAME)
    return str((policy.get("status") or {}).get("state"))


def gpu_policy_state(installed: Any) -> str:
    return str((installed.get("clusterpolicies", "cluster-policy").get("status") or {}).get("state"))
