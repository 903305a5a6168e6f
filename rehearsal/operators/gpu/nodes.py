"""The labels by which the GPU Operator says which nodes have GPUs and which of its pods may run there."""

from typing import Final

from rehearsal.operators.plan import Doc, Plan, Snapshot, labels_of

PRESENT_LABEL: Final = "nvidia.com/gpu.present"
DEPLOY_PREFIX: Final = "nvidia.com/gpu.deploy."
UPGRADE_LABEL: Final = "nvidia.com/gpu-driver-upgrade-state"
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


def has_gpu(node: Doc) -> bool:
    """Whether feature discovery has seen an NVIDIA GPU, on a node whose container runtime is one the operator knows."""
    runtime = (node.get("status") or {}).get("nodeInfo", {}).get("containerRuntimeVersion", "")
    return runtime.startswith("containerd:") and any(labels_of(node).get(label) == "true" for label in _PCI_LABELS)


def label_nodes(plan: Plan, snapshot: Snapshot, *, with_mig_manager: bool) -> list[Doc]:
    """Label the nodes that have GPUs, and take the labels from those that have none any more; returns the former."""
    nodes = []
    for node in snapshot.of("Node"):
        if has_gpu(node):
            nodes.append(node)
            mig = with_mig_manager and labels_of(node).get("nvidia.com/mig.capable") == "true"
            plan.label(
                node,
                {
                    PRESENT_LABEL: "true",
                    **{DEPLOY_PREFIX + name: "true" for name in _ALWAYS},
                    DEPLOY_PREFIX + _MIG_MANAGER: "true" if mig else None,
                },
            )
        elif PRESENT_LABEL in labels_of(node):
            gone = {label: None for label in labels_of(node) if label.startswith(DEPLOY_PREFIX)}
            plan.label(node, {PRESENT_LABEL: None, UPGRADE_LABEL: None, **gone})
    return nodes
