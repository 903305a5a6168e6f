"""Kernel Module Management as AMD's chart brings it: a pod on each node loads the driver, and a label says that it did.

The real one has the driver's image built in the cluster if the registry lacks it, and its worker pod ends when the
module is loaded (rh-ecosystem-edge/kernel-module-management, internal/controllers/nmc_reconciler.go). Here the image is
there, and the pod is deleted once it is ready: what it loaded stays until the machine boots again.
"""

from collections.abc import Sequence
from typing import Final

from rehearsal.operators.amd.daemon_sets import READY_LABEL
from rehearsal.operators.plan import Document, Plan, Snapshot, annotation, labels_of, owned
from rehearsal.operators.workloads import REQUESTS, pod_ready

WORKER: Final = {"app.kubernetes.io/name": "kmm", "app.kubernetes.io/component": "worker"}
_BOOT: Final = "rehearsal.aks-infiniband/kmm-boot"
"""The boot in which the driver was loaded; the real one keeps it in a NodeModulesConfig."""
_MODULE: Final = "kmm.node.kubernetes.io/module.name"


def load(plan: Plan, snapshot: Snapshot, config: Document, nodes: Sequence[Document]) -> None:
    """Have the driver loaded on the nodes of a DeviceConfig, and take the label from all others."""
    metadata = config["metadata"]
    label = READY_LABEL.format(namespace=metadata["namespace"], name=metadata["name"])
    selected = {node["metadata"]["name"] for node in nodes}
    for node in snapshot.of("Node"):
        if node["metadata"]["name"] not in selected and label in labels_of(node):
            plan.label(node, {label: None})
    for node in nodes:
        boot = str((node.get("status") or {}).get("nodeInfo", {}).get("bootID", ""))
        worker = owned(_worker(config, node), config, namespace=metadata["namespace"])
        here = snapshot.find("Pod", worker["metadata"]["name"], metadata["namespace"])
        if label in labels_of(node) and annotation(node, _BOOT) == boot:
            plan.deletions.extend([here] if here is not None and "deletionTimestamp" not in here["metadata"] else [])
        elif here is None:
            plan.label(node, {label: None})
            plan.objects.append(worker)
        elif pod_ready(here):
            plan.label(node, {label: ""})
            plan.annotate(node, {_BOOT: boot})


def _worker(config: Document, node: Document) -> Document:
    driver, name = config["spec"].get("driver") or {}, config["metadata"]["name"]
    secret = driver.get("imageRegistrySecret")
    image = driver.get("image") or "image-registry:5000/$MOD_NAMESPACE/amdgpu_kmod"
    info = (node.get("status") or {}).get("nodeInfo", {})
    # Such as "Ubuntu 24.04.3 LTS" (ROCm/gpu-operator v1.5.1, internal/kmmmodule/kmmmodule.go: ubuntuCMNameMapper).
    system, version, *_ = [*str(info.get("osImage", "")).lower().split(), "", ""]
    tag = f"{system}-{'.'.join(version.split('.')[:2])}-{info.get('kernelVersion', '')}-{driver.get('version', '')}"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"kmm-worker-{node['metadata']['name']}-{name}",
            "labels": {**WORKER, _MODULE: name},
        },
        "spec": {
            "nodeName": node["metadata"]["name"],
            "restartPolicy": "OnFailure",
            "serviceAccountName": "amd-gpu-operator-kmm-module-loader",
            "tolerations": driver.get("tolerations") or [],
            "imagePullSecrets": [secret] if secret else [],
            "containers": [
                {
                    "name": "worker",
                    "image": f"{image}:{tag}",
                    "args": ["kmod", "load", "/etc/kmm-worker/config.yaml"],
                    # The pod loads a kernel module.
                    "securityContext": {"capabilities": {"add": ["SYS_MODULE"]}},
                    "resources": REQUESTS,
                }
            ],
        },
    }
