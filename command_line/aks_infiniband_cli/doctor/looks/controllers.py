"""The controllers that serve the cluster's policies and networks, and the parts that each of them should have made."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from aks_infiniband.diagnosis.operators import GPU_LABEL
from aks_infiniband.diagnosis.view import Finding, Object, in_namespace, labelled, name_of, owners_of, shown_by

from aks_infiniband_cli.doctor.looks.operands import infiniband_nodes, operator_namespaces, operators_of
from aks_infiniband_cli.doctor.snapshot import Snapshot, image_names_of, labels_of

_OPERATORS: Final = {
    "NicClusterPolicy": "network-operator",
    "NicNodePolicy": "network-operator",
    "IPoIBNetwork": "network-operator",
    "ClusterPolicy": "gpu-operator",
}
"""The operator that reads a kind of policy."""
_FEATURE_DISCOVERY: Final = "node-feature-discovery"
"""Its image (kubernetes-sigs/node-feature-discovery, and NVIDIA's copies)."""
_GPU_PARTS: Final = {
    "driver": "nvidia-driver-daemonset",
    "toolkit": "nvidia-container-toolkit-daemonset",
    "devicePlugin": "nvidia-device-plugin-daemonset",
    "gfd": "gpu-feature-discovery",
    "dcgmExporter": "nvidia-dcgm-exporter",
}
"""Sections of a ClusterPolicy that are on unless they say otherwise, and what the GPU Operator makes of each (NVIDIA/
gpu-operator v26.3.3, assets)."""


def scaled_down(snapshot: Snapshot) -> Iterator[Finding]:
    """Controllers of the operators and of node feature discovery that were scaled to zero."""
    for deployment in in_namespace(snapshot.view.deployments, *operator_namespaces(snapshot)):
        if (deployment.get("spec") or {}).get("replicas", 1) == 0:
            name, namespace = deployment["metadata"]["name"], deployment["metadata"]["namespace"]
            command = f"kubectl -n {namespace} scale deployment {name} --replicas=1"
            what = " has 0 replicas: its work is not done"
            yield shown_by("Deployment", deployment, "scaled-to-zero", what, command=command)


def missing_operators(snapshot: Snapshot) -> Iterator[Finding]:
    """Policies and networks whose operator lacks a Deployment."""
    asking = [item for item in (*snapshot.view.policies, *snapshot.view.networks) if item.get("kind") in _OPERATORS]
    for operator in sorted({_OPERATORS[item["kind"]] for item in asking}):
        if snapshot.was_read("Deployments") and not operators_of(snapshot, operator):
            asked = next(item for item in asking if _OPERATORS[item["kind"]] == operator)
            what = f"{asked['kind']} {name_of(asked)} is there, and no Deployment runs {operator}"
            yield Finding(symptom="operator-missing", about=f"Deployment {operator}", what=what)


def feature_discovery(snapshot: Snapshot) -> Iterator[Finding]:
    """Node feature discovery without its master, or without its workers."""
    workers = [item for item in snapshot.view.daemon_sets if _discovers(item)]
    masters = [item for item in snapshot.view.deployments if _discovers(item) and not _collects(item)]
    read = snapshot.was_read("DaemonSets", "Deployments")
    if not read or bool(workers) == bool(masters) or not infiniband_nodes(snapshot.view):
        return
    present = (workers or masters)[0]
    missing = "the Deployment of its master" if workers else "the DaemonSet of its workers"
    what = f"{present['kind']} {name_of(present)} is there, and {missing} is not"
    yield Finding(symptom="feature-discovery-in-part", about=f"{present['kind']} {name_of(present)}", what=what)


def _discovers(item: Object) -> bool:
    return _FEATURE_DISCOVERY in image_names_of(item)


def _collects(item: Object) -> bool:
    """True if it is the part that cleans up after nodes that are gone."""
    return str(item["metadata"]["name"]).endswith("-gc") or labels_of(item).get("role") == "gc"


def missing_parts(snapshot: Snapshot) -> Iterator[Finding]:
    """Parts of a policy for which its operator has made nothing."""
    for policy in snapshot.view.policies if snapshot.was_read("DaemonSets", "Deployments") else ():
        uid = policy["metadata"].get("uid")
        workloads = (*snapshot.view.daemon_sets, *snapshot.view.deployments)
        made = [item for item in workloads if uid and any(owner.get("uid") == uid for owner in owners_of(item))]
        for part in _parts_without(policy, made, snapshot) if made else ():
            kind = policy["kind"]
            yield shown_by(kind, policy, "part-not-made", f" requests {part}, but its DaemonSet does not exist")


def missing_attachments(snapshot: Snapshot) -> Iterator[Finding]:
    """IPoIBNetworks that are ready, and whose NetworkAttachmentDefinition is gone."""
    there = {name_of(item) for item in snapshot.of_kind("NetworkAttachmentDefinition")}
    for network in snapshot.view.networks if snapshot.was_read("NetworkAttachmentDefinitions") else ():
        told = str((network.get("status") or {}).get("ipoibNetworkAttachmentDef") or "")
        # VERSION/namespaces/NAMESPACE/KIND/NAME (network-operator v26.4.1, pkg/utils, GetNetworkAttachmentDefLink)
        _, separator, link = told.partition("/namespaces/")
        made = "/".join(link.split("/")[::2])
        if separator and made not in there:
            what = f" has made the NetworkAttachmentDefinition {made}, and it is gone"
            yield shown_by("IPoIBNetwork", network, "part-not-made", what)


def _parts_without(policy: Object, made: list[Object], snapshot: Snapshot) -> Iterator[str]:
    spec = policy.get("spec") or {}
    if policy.get("kind") == "ClusterPolicy":
        names = {item["metadata"]["name"] for item in made}
        for section, name in _GPU_PARTS.items() if labelled(snapshot.view.nodes, {GPU_LABEL: "true"}) else ():
            content = spec.get(section) or {}
            wanted = content.get("enabled", True) and not content.get("useNvidiaDriverCRD")
            if wanted and not any(there.startswith(name) for there in names):
                yield section
        return
    images = {name for item in made for name in image_names_of(item)}
    for section, image in _images(spec):
        if image not in images:
            yield section


def _images(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The sections of a NicClusterPolicy that name an image, with it: `secondaryNetwork` has nested sections."""
    for section, content in spec.items():
        if isinstance(content, Mapping) and isinstance(content.get("image"), str):
            yield section, content["image"]
        elif section == "secondaryNetwork" and isinstance(content, Mapping):
            yield from _images(content)
