"""The labels by which the GPU Operator says which nodes have GPUs and which of its pods may run there."""

from typing import Final

from rehearsal.operators.plan import Document, Plan, Snapshot, labels_of

PRESENT_LABEL: Final = "nvidia.com/gpu.present"
DEPLOY_PREFIX: Final = "nvidia.com/gpu.deploy."
OPERANDS: Final = "nvidia.com/gpu.deploy.operands"
"""Set to false by people who want the operator to leave a node alone."""
_PCI_LABELS: Final = tuple(
    f"feature.node.kubernetes.io/pci-{name}.present" for name in ("10de", "0302_10de", "0300_10de")
)
_ALWAYS: Final = (
    "driver",
    "container-toolkit",
    "device-plugin",
    "dcgm",
    "dcgm-exporter",
    "gpu-feature-discovery",
    "node-status-exporter",
    "operator-validator",
)
_MIG_MANAGER: Final = "mig-manager"


def has_gpu(node: Document) -> bool:
    """Whether feature discovery has seen an NVIDIA GPU, on a node whose container runtime is one the operator knows."""
    runtime = (node.get("status") or {}).get("nodeInfo", {}).get("containerRuntimeVersion", "")
    return runtime.startswith("containerd:") and any(labels_of(node).get(label) == "true" for label in _PCI_LABELS)


def label_nodes(plan: Plan, snapshot: Snapshot, *, with_mig_manager: bool) -> list[Document]:
    """Label the nodes that have GPUs, and take the labels from those that have none any more; returns the former.

    A label that is there already is honoured, whatever its value: "false" keeps that operand off the node
    (addGPUStateLabels in the operator's state_manager.go). `nvidia.com/gpu.deploy.operands=false` keeps off all.
    """
    nodes = []
    for node in snapshot.of("Node"):
        has = labels_of(node)
        deployed: dict[str, str | None] = {
            key: None for key in has if key.startswith(DEPLOY_PREFIX) and key != OPERANDS
        }
        if not has_gpu(node):
            if has.get(PRESENT_LABEL) == "true":
                plan.label(node, {PRESENT_LABEL: "false", **deployed})
            continue
        nodes.append(node)
        plan.label(node, {PRESENT_LABEL: "true"})
        if has.get(OPERANDS) == "false":
            plan.label(node, deployed)
            continue
        plan.label(node, {key: "true" for name in _ALWAYS if (key := DEPLOY_PREFIX + name) not in has})
        mig = with_mig_manager and has.get("nvidia.com/mig.capable") == "true"
        key = DEPLOY_PREFIX + _MIG_MANAGER
        plan.label(node, {} if mig and key in has else {key: "true" if mig else None})
    return nodes
