"""Makes the patches by which a node shows what its machine has: plain documents, no client."""

from collections.abc import Mapping
from typing import Any, Final

from rehearsal.machines.nodes.feature_rules import LABEL_NAMESPACE
from rehearsal.watch.cluster import Document

RESOURCES_ANNOTATION: Final = "rehearsal.aks-infiniband/device-plugin-resources"
LOST: Final = "Kubelet stopped posting node status."
"""Why a node is broken whose machine does not answer; the words are the node lifecycle controller's."""
# NFD's master keeps its own record here, by the same name.
_LABELS_ANNOTATION: Final = "nfd.node.kubernetes.io/feature-labels"


def endpoint_patch(node: Mapping[str, Any], port: int) -> Document:
    """The strategic merge patch that leads the API server to the log server; empty when the node's status does."""
    status = node.get("status") or {}
    endpoint = (status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}
    # An address of the one type that the API server is set to use, so that it never dials out of this computer.
    address = {"type": "InternalDNS", "address": "localhost"}
    if endpoint.get("Port") == port and address in (status.get("addresses") or []):
        return {}
    return {"status": {"addresses": [address], "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}}}


def broken_patch(node: Mapping[str, Any], why: str | None, moment: str) -> Document:
    """The strategic merge patch that makes a broken node NotReady; empty if it is already, or if nothing is broken.

    why: the reason why its container runtime is down, or LOST; None if nothing is wrong. moment: the time, RFC 3339.
    """
    status = node.get("status") or {}
    is_ready = any(
        condition["type"] == "Ready" and condition["status"] == "True" for condition in status.get("conditions") or []
    )
    if why is None or not is_ready:
        return {}
    is_lost = why == LOST
    condition = {
        "type": "Ready",
        "status": "Unknown" if is_lost else "False",
        "reason": "NodeStatusUnknown" if is_lost else "KubeletNotReady",
        "message": LOST if is_lost else f"container runtime is down: {why}",
        "lastTransitionTime": moment,
        "lastHeartbeatTime": moment,
    }
    return {"status": {"conditions": [condition]}}


def label_patch(node: Mapping[str, Any], wanted: Mapping[str, str]) -> Document:
    """The merge patch that gives a node these feature labels and takes back earlier ones; empty when it has them."""
    metadata = node["metadata"]
    recorded = (metadata.get("annotations") or {}).get(_LABELS_ANNOTATION, "")
    earlier = {name if "/" in name else f"{LABEL_NAMESPACE}/{name}" for name in recorded.split(",") if name}
    present = metadata.get("labels") or {}
    changes: dict[str, str | None] = {name: value for name, value in wanted.items() if present.get(name) != value}
    changes |= dict.fromkeys(sorted((earlier - set(wanted)) & set(present)))
    record = ",".join(sorted(name.removeprefix(f"{LABEL_NAMESPACE}/") for name in wanted))
    if not changes and record == recorded:
        return {}
    return {"metadata": {"labels": changes, "annotations": {_LABELS_ANNOTATION: record}}}


def resource_patch(node: Mapping[str, Any], offered: Mapping[str, int]) -> Document:
    """The merge patch of the status that offers these resources, and 0 of those offered earlier; empty when it does."""
    wanted = dict.fromkeys(known_resources(node), "0") | {name: str(count) for name, count in offered.items()}
    status = node.get("status") or {}
    if all(
        (status.get(kind) or {}).get(name) == value
        for kind in ("capacity", "allocatable")
        for name, value in wanted.items()
    ):
        return {}
    return {"capacity": wanted, "allocatable": wanted}


def known_resources(node: Mapping[str, Any]) -> set[str]:
    """The extended resources that device plugins have offered on a node."""
    recorded = (node["metadata"].get("annotations") or {}).get(RESOURCES_ANNOTATION, "")
    return {name for name in recorded.split(",") if name}
