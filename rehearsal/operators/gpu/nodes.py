"""The labels by which the GPU Operator says which nodes have GPUs and which of its pods may run there."""

from typing import Final

from rehearsal.operators.plan import Document, Plan, Snapshot, labels_of
from rehearsal.operators.release import JULY_2026, Release

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
_SINCE_JULY_2026: Final = ("client",)
_MIG_MANAGER: Final = "mig-manager"


def has_gpu(node: Document) -> bool:
    """True if feature discovery has seen an NVIDIA GPU, on a node whose container runtime is one the operator knows."""
    runtime = (node.get("status") or {}).get("nodeInfo", {}).get("containerRuntimeVersion", "")
    return runtime.startswith("containerd:") and any(labels_of(node).get(label) == "true" for label in _PCI_LABELS)


def _can_be_split(labels: dict[str, str]) -> bool:
    """HasMIGCapableGPU of state_manager.go: feature discovery's word, else the product's name."""
    said = labels.get("nvidia.com/mig.capable")
    if said is not None:
        return said == "true"
    return any(model in labels.get("nvidia.com/gpu.product", "").lower() for model in ("h100", "a100", "a30"))


def label_nodes(plan: Plan, snapshot: Snapshot, release: Release = (0, 0)) -> list[Document]:
    """Label the nodes that have GPUs, and remove the labels from nodes that no longer have any. Returns the nodes with
    GPUs.

    A label that is there already is honoured, whatever its value: "false" keeps that operand off the node
    (addGPUStateLabels in the operator's state_manager.go). `nvidia.com/gpu.deploy.operands=false` keeps off all.
    GPUs that can be split get the MIG manager's label whether there is a MIG manager or not.
    """
    nodes, operands = [], (*_ALWAYS, *(_SINCE_JULY_2026 if release >= JULY_2026 else ()))
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
        plan.label(node, {key: "true" for name in operands if (key := DEPLOY_PREFIX + name) not in has})
        key = DEPLOY_PREFIX + _MIG_MANAGER
        if not _can_be_split(has):
            plan.label(node, {key: None})
        elif key not in has:
            plan.label(node, {key: "true"})
    return nodes
