"""The labels by which the Network Operator tells other pods how far a node is."""

from typing import Final

from rehearsal.operators.network.ofed import OFED_LABEL
from rehearsal.operators.network.parts import NIC_LABEL, OFED_WAIT_LABEL
from rehearsal.operators.plan import Plan, Snapshot, labels_of
from rehearsal.operators.workloads import pod_ready

UPGRADE_LABEL: Final = "nvidia.com/ofed-driver-upgrade-state"
_CONFIGURATION_WAIT_LABEL: Final = "network.nvidia.com/operator.nic-configuration.wait"


def label_nodes(plan: Plan, snapshot: Snapshot, *, with_ofed: bool | None) -> None:
    """Say on every node whether pods that need the driver have to wait.

    with_ofed: whether the policy asks for the driver; None when there is no policy, and no node is labelled. With the
    driver, the label follows the driver's pod on the node, and a node without such a pod has none; without it, every
    node with an adapter is free at once.
    """
    ready = {
        pod["spec"].get("nodeName"): pod_ready(pod)
        for pod in sorted(snapshot.of("Pod", labels={OFED_LABEL: ""}), key=pod_ready)
    }
    for node in snapshot.of("Node"):
        has_nic = labels_of(node).get(NIC_LABEL) == "true"
        wait: str | None = None
        if with_ofed and node["metadata"]["name"] in ready:
            wait = "false" if ready[node["metadata"]["name"]] else "true"
        elif with_ofed is False and has_nic:
            wait = "false"
        configuration = "false" if has_nic and with_ofed is not None else None
        plan.label(node, {OFED_WAIT_LABEL: wait, _CONFIGURATION_WAIT_LABEL: configuration})
