"""The state of nodes: their readiness, their labels, their pods and their resources."""

from collections.abc import Iterator
from typing import Any, Final

from aks_infiniband.diagnosis.asks import GPUS
from aks_infiniband.diagnosis.holds import CORDONED_BY_VALIDATE
from aks_infiniband.diagnosis.nodes import lacking, missing_node_findings
from aks_infiniband.diagnosis.operators import GPU_LABEL, NIC_LABEL, feature_discovery_findings
from aks_infiniband.diagnosis.view import Finding, Object, labelled, name_of
from aks_infiniband.facts.azure_names import SIZE_LABEL, has_rdma
from aks_infiniband.facts.driver_upgrades import FAILED, GPU, NIC, skip_label, state_label
from aks_infiniband.facts.managed import AUTO_DRAIN
from aks_infiniband.facts.node_images import VERSION_LABEL
from aks_infiniband.validation.machines import FELL_SHORT
from aks_infiniband.validation.reports import CONDITION

from aks_infiniband_cli.doctor.looks.device_plugins import entries_of
from aks_infiniband_cli.doctor.looks.operands import (
    has_unknown_size,
    infiniband_nodes,
    ofed_sets,
    pools,
    runs,
    size_of,
)
from aks_infiniband_cli.doctor.snapshot import Snapshot, info_of, labels_of, offered_by

_UPGRADE_FAILED: Final = {NIC: "ofed-upgrade-failed", GPU: "gpu-upgrade-failed"}
"""Symptom, by driver."""


def service(snapshot: Snapshot) -> Iterator[Finding]:
    """Nodes that are not Ready or are cordoned, upgrades of drivers that failed or pass a node over, and what the
    scheduled check says.
    """
    yield from missing_node_findings(snapshot.view, [])
    for node in snapshot.view.nodes:
        if any(taint.get("key") == AUTO_DRAIN for taint in (node.get("spec") or {}).get("taints") or ()):
            what = f"node {name_of(node)} has the taint {AUTO_DRAIN}"
            yield Finding(symptom="node-auto-drained", about=f"node {name_of(node)}", what=what)
        for driver, symptom in _UPGRADE_FAILED.items():
            label = state_label(driver)
            if labels_of(node).get(label) == FAILED:
                what = f"node {name_of(node)} has the label {label}={FAILED}"
                yield Finding(symptom=symptom, about=f"node {name_of(node)}", what=what)
        for label in map(skip_label, _UPGRADE_FAILED):
            if labels_of(node).get(label) == "true":
                what = f"node {name_of(node)} has the label {label}=true"
                yield Finding(symptom="upgrade-passed-over", about=f"node {name_of(node)}", what=what)
        for said in node.get("status", {}).get("conditions") or ():
            told = said.get("reason") == FELL_SHORT and CORDONED_BY_VALIDATE in (
                node["metadata"].get("annotations") or {}
            )
            if (said["type"], said["status"]) == (CONDITION, "False") and not told:
                what = f"node {name_of(node)}: {said.get('message') or said.get('reason')}"
                yield Finding(symptom="light-check-failed", about=f"node {name_of(node)}", what=what)


def feature_labels(snapshot: Snapshot) -> Iterator[Finding]:
    """Labels of Node Feature Discovery: missing everywhere, missing on some nodes, or on nodes without InfiniBand."""
    view = snapshot.view
    gpus = [node for node in infiniband_nodes(view) if _has_nvidia_gpus(node)]
    for label, operator, nodes in (
        (NIC_LABEL, "network-operator", infiniband_nodes(view)),
        (GPU_LABEL, "gpu-operator", gpus),
    ):
        findings = list(feature_discovery_findings(view, label))
        yield from (finding for finding in findings if finding.symptom == "two-feature-discoveries")
        if nodes and runs(snapshot, operator):
            yield from (finding for finding in findings if finding.symptom != "two-feature-discoveries")
            if labelled(view.nodes, {label: "true"}):
                yield from (_unlabelled(node, label) for node in nodes if labels_of(node).get(label) != "true")
    wanted = {name_of(node) for node in labelled(view.nodes, {NIC_LABEL: "true"})}
    for node in view.nodes:
        size = labels_of(node).get(SIZE_LABEL, "")
        if name_of(node) in wanted and not has_rdma(size) and ofed_sets(view):
            what = f"node {name_of(node)} of size {size} does not have InfiniBand, but has the label {NIC_LABEL}=true"
            yield Finding(symptom="ordinary-node-labelled", about=f"node {name_of(node)}", what=what)


def _has_nvidia_gpus(node: Object) -> bool:
    size = size_of(node)
    accelerator = size.accelerator if size else None
    return accelerator is not None and accelerator.software == "gpu-operator"


def _unlabelled(node: Object, label: str) -> Finding:
    symptom = "nic-label-on-some" if label == NIC_LABEL else "gpu-label-on-some"
    what = f"node {name_of(node)} lacks the label {label}=true, which its neighbours carry"
    return Finding(symptom=symptom, about=f"node {name_of(node)}", what=what, command=f"kubectl get nodes -L {label}")


def images(snapshot: Snapshot) -> Iterator[Finding]:
    """Pools of different node images, and systems without an OFED driver."""
    for pool, nodes in pools(snapshot.view).items():
        nodes_by_image: dict[str, list[str]] = {}
        for node in nodes:
            version = labels_of(node).get(VERSION_LABEL, "image unknown")
            image = f"{version}, kernel {info_of(node).get('kernelVersion')}"
            nodes_by_image.setdefault(image, []).append(name_of(node))
        if len(nodes_by_image) > 1:
            what = "; ".join(f"{', '.join(names)}: {image}" for image, names in sorted(nodes_by_image.items()))
            yield Finding(symptom="mixed-node-images", about=f"pool {pool}", what=what)
        for node in nodes:
            system = str(info_of(node).get("osImage"))
            if ofed_sets(snapshot.view) and not system.startswith(("Ubuntu", "Microsoft Azure Linux 3")):
                what = f"node {name_of(node)} runs {system}"
                yield Finding(symptom="ofed-unsupported-system", about=f"node {name_of(node)}", what=what)


def hardware(snapshot: Snapshot) -> Iterator[Finding]:
    """Nodes that offer fewer GPUs or HCAs than their size has, and nodes of sizes that are not known."""
    for node in snapshot.view.nodes:
        if has_unknown_size(node):
            of_size = f"node {name_of(node)} is of size {labels_of(node)[SIZE_LABEL]}"
            what = f"{of_size}, which is not known here: its GPUs and HCAs are not counted"
            yield Finding(symptom="size-unknown", about=f"node {name_of(node)}", what=what)
    for node in infiniband_nodes(snapshot.view):
        size = size_of(node)
        if size is None:
            continue
        expected: dict[str, Any] = {name: size.accelerator.count for name in GPUS if size.accelerator}
        for name, count in expected.items():
            if not lacking([node], name, 1) and lacking([node], name, count):
                yield _short("gpu-count-short", node, name, count)
        for name in {entry.resource for entry in entries_of(snapshot) if entry.exclusive}:
            if not lacking([node], name, 1) and lacking([node], name, size.infiniband.hca_count):
                yield _short("hca-count-short", node, name, size.infiniband.hca_count)


def _short(symptom: str, node: Object, resource: str, count: int) -> Finding:
    what = f"node {name_of(node)} offers {offered_by(node)[resource]} of {resource}, its size has {count}"
    return Finding(
        symptom=symptom,
        about=f"node {name_of(node)}",
        what=what,
        command=f"kubectl describe node {name_of(node)}",
    )
