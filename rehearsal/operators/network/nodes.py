"""The labels by which the Network Operator reports to other pods that a node's driver is ready.

controllers/mofed_wait_labels.go and nicclusterpolicy_controller.go of Network Operator 26.4.1: if the cluster's policy
requires the driver, only nodes with a driver pod are labelled. If it does not, every node with an adapter is labelled
ready at once, except for nodes that a NicNodePolicy with the driver selects: there the label follows the pod of that
policy.
"""

from collections.abc import Sequence
from typing import Final

from rehearsal.operators.network.ofed import OFED_LABEL
from rehearsal.operators.network.parts import CLUSTER_POLICY_OWNER, NIC_LABEL, OFED_WAIT_LABEL, OWNER_LABEL
from rehearsal.operators.plan import Document, Plan, Snapshot, labels_of
from rehearsal.operators.workloads import pod_ready

_CONFIGURATION_WAIT_LABEL: Final = "network.nvidia.com/operator.nic-configuration.wait"


def node_policy_owner(policy: Document) -> str:
    """Value of the label ds-owner on what a NicNodePolicy makes."""
    return f"nnp-{policy['metadata']['name']}"


def selected_nodes(snapshot: Snapshot, policy: Document) -> list[Document]:
    """The nodes that a NicNodePolicy concerns. Without a selector it concerns all of them."""
    return snapshot.of("Node", labels=(policy.get("spec") or {}).get("nodeSelector") or {})


def label_nodes(plan: Plan, snapshot: Snapshot, policy: Document | None, node_policies: Sequence[Document]) -> None:
    """Say on every node whether pods that need the driver have to wait.

    policy: the NicClusterPolicy, if there is one.
    """
    with_driver = [node_policy for node_policy in node_policies if "ofedDriver" in (node_policy.get("spec") or {})]
    if "ofedDriver" in ((policy or {}).get("spec") or {}):
        _follow_pods(plan, snapshot, CLUSTER_POLICY_OWNER)
    else:
        managed = {
            node["metadata"]["name"] for node_policy in with_driver for node in selected_nodes(snapshot, node_policy)
        }
        _free(plan, [node for node in snapshot.of("Node") if node["metadata"]["name"] not in managed], snapshot)
    for node_policy in with_driver:
        _follow_pods(plan, snapshot, node_policy_owner(node_policy))
    for node in snapshot.of("Node"):
        has_nic = labels_of(node).get(NIC_LABEL) == "true"
        plan.label(node, {_CONFIGURATION_WAIT_LABEL: "false" if has_nic else None})


def _follow_pods(plan: Plan, snapshot: Snapshot, owner: str) -> None:
    """Nodes with a driver pod of this owner wait until it is ready; others keep the label that they have."""
    for pod in sorted(snapshot.of("Pod", labels={OFED_LABEL: "", OWNER_LABEL: owner}), key=pod_ready):
        node = snapshot.find("Node", pod["spec"].get("nodeName", ""))
        if node is not None:
            plan.label(node, {OFED_WAIT_LABEL: "false" if pod_ready(pod) else "true"})


def _free(plan: Plan, nodes: Sequence[Document], snapshot: Snapshot) -> None:
    """If no driver is required, a node with an adapter is ready, unless a pod of an earlier driver is still there."""
    left_over = {pod["spec"].get("nodeName") for pod in snapshot.of("Pod", labels={OFED_LABEL: ""})}
    for node in nodes:
        has_nic = labels_of(node).get(NIC_LABEL) == "true"
        wait = "true" if node["metadata"]["name"] in left_over else "false" if has_nic else None
        plan.label(node, {OFED_WAIT_LABEL: wait})
