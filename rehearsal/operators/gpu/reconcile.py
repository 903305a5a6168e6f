"""The GPU Operator: one function from the cluster that it sees to the cluster that a ClusterPolicy requires."""

from collections.abc import Sequence
from typing import Final

from rehearsal.operators.drain import uses_gpus
from rehearsal.operators.gpu.attention import Attention
from rehearsal.operators.gpu.nodes import label_nodes
from rehearsal.operators.gpu.operands import operands
from rehearsal.operators.gpu.parts import Context
from rehearsal.operators.plan import Document, Plan, Snapshot, labels_of, owned
from rehearsal.operators.release import JULY_2026, release_of, version_of
from rehearsal.operators.upgrade import forget, lacks_pods, roll
from rehearsal.operators.upgrade_step import DriverKind
from rehearsal.operators.workloads import available, counts, latest_revision, outdated, pod_ready, pods_of

OPERATOR_LABELS: Final = {"app.kubernetes.io/component": "gpu-operator"}
OPERAND_LABEL: Final = "app.kubernetes.io/managed-by"
"""Label of everything the operator made, so that it finds what a smaller policy leaves behind."""
_MANAGER: Final = "gpu-operator"
WATCHED: Final = (
    "Node",
    "Pod",
    "ConfigMap",
    "ServiceAccount",
    "DaemonSet",
    "Deployment",
    "ControllerRevision",
    "RuntimeClass",
    "CustomResourceDefinition",
    "ClusterPolicy",
)
_DRIVER: Final = "nvidia-driver-daemonset"
_DRIVER_UPGRADE: Final = DriverKind(name="gpu", deletes=uses_gpus, validator={"app": "nvidia-operator-validator"})
_UPGRADES_ITSELF: Final = "nvidia.com/gpu-driver-upgrade-enabled"
"""Annotation of nodes with GPUs, which stays when the operator goes (state_manager.go)."""
_GPU_CLUSTERS: Final = "gpuclusters.nvidia.com"
_NFD_PREFIX: Final = "feature.node.kubernetes.io/"


def reconcile(snapshot: Snapshot, *, now: str, attention: Attention | None = None) -> Plan:
    """The operator's current plan; nothing while its own Deployment is not Available.

    now: the time, RFC 3339, for conditions that change and waits that end.
    attention: when it looks at an upgrade; None: always.
    """
    plan = Plan()
    operator = next((d for d in snapshot.of("Deployment", labels=OPERATOR_LABELS) if available(d)), None)
    policies = [p for p in snapshot.of("ClusterPolicy") if "deletionTimestamp" not in p["metadata"]]
    if operator is None or not policies:
        return plan
    release = release_of(operator)
    if release >= JULY_2026 and snapshot.find("CustomResourceDefinition", _GPU_CLUSTERS) is None:
        return plan  # it ends with "no matches for kind GPUCluster", again and again
    policy, *others = sorted(policies, key=lambda p: (p["metadata"]["creationTimestamp"], p["metadata"]["name"]))
    for other in others:
        plan.set_status(other, {"state": "ignored"})
    spec = policy.get("spec") or {}
    nodes = label_nodes(plan, snapshot, release)
    namespace = operator["metadata"]["namespace"]
    context = Context(spec=spec, nodes=nodes, version=version_of(operator), release=release)
    daemon_sets = _make(plan, snapshot, context, policy, namespace)
    upgrades = _upgrades(spec)
    for node in nodes:
        plan.annotate(node, {_UPGRADES_ITSELF: "true" if upgrades else None})
    _roll_driver(plan, snapshot, policy, operator, now, attention)
    waiting = [d["metadata"]["name"] for d in daemon_sets if not _is_ready(d, snapshot)]
    plan.set_status(policy, _status(policy, snapshot, nodes, waiting, namespace, now))
    return plan


def _make(plan: Plan, snapshot: Snapshot, context: Context, policy: Document, namespace: str) -> list[Document]:
    """Runtime class and DaemonSets into the plan; the operator makes no DaemonSet while no node has a GPU."""
    mine = {OPERAND_LABEL: _MANAGER}
    classes = [owned(_runtime_class(name), policy, labels=mine) for name in context.runtime_classes]
    plan.include(classes, snapshot)
    made = operands(context) if context.nodes else []
    documents = [owned(document, policy, namespace=namespace, labels=mine) for document in made]
    plan.include(documents, snapshot)
    daemon_sets = [document for document in documents if document["kind"] == "DaemonSet"]
    names = {document["metadata"]["name"] for document in daemon_sets}
    plan.deletions.extend(
        item
        for item in snapshot.of("DaemonSet", namespace=namespace, labels=mine)
        if item["metadata"]["name"] not in names
    )
    return daemon_sets


def _runtime_class(name: str) -> Document:
    return {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": name}


def _upgrades(spec: Document) -> bool:
    driver = spec.get("driver") or {}
    return bool(driver.get("enabled", True) and (driver.get("upgradePolicy") or {}).get("autoUpgrade"))


def _roll_driver(
    plan: Plan,
    snapshot: Snapshot,
    policy: Document,
    operator: Document,
    now: str,
    attention: Attention | None,
) -> None:
    namespace, release = operator["metadata"]["namespace"], release_of(operator)
    driver = snapshot.find("DaemonSet", _DRIVER, namespace)
    rules = ((policy.get("spec") or {}).get("driver") or {}).get("upgradePolicy") or {}
    if not rules.get("autoUpgrade"):
        forget(plan, snapshot.of("Node"), _DRIVER_UPGRADE)
        return
    if driver is None or lacks_pods(driver, snapshot):
        return
    if attention is None or attention.is_due(policy, driver, snapshot.of("Node"), _DRIVER_UPGRADE, release):
        roll(plan, snapshot, daemon_sets=[driver], kind=_DRIVER_UPGRADE, policy=rules, now=now)


def _is_ready(document: Document, snapshot: Snapshot) -> bool:
    """Ready with no pod desired; else when every pod is available, and of a driver's those are of the latest template
    that carry the template's own labels.

    So while another chart version rolls a driver, it counts as ready once one node has it: pods of the template before
    have the label of the chart before (gpu-operator v26.3.3, controllers/object_controls.go, isDaemonSetReady; seen
    2026-11-23).
    """
    metadata = document["metadata"]
    here = snapshot.find("DaemonSet", metadata["name"], metadata["namespace"])
    pods = counts(here) if here is not None else None
    if here is None or pods is None or not snapshot.holds(document):
        return False
    desired, free, _ = pods
    if desired == 0 or document["spec"]["updateStrategy"]["type"] != "OnDelete":
        return desired == free
    revision, labels = latest_revision(here, snapshot), here["spec"]["template"]["metadata"]["labels"]
    seen = [pod for pod in pods_of(here, snapshot) if labels.items() <= labels_of(pod).items()]
    return desired == free and bool(seen) and all(pod_ready(pod) and not outdated(pod, revision) for pod in seen)


def _status(
    policy: Document, snapshot: Snapshot, nodes: Sequence[Document], waiting: Sequence[str], namespace: str, now: str
) -> Document:
    ready = not waiting
    if waiting:
        reason, message = "OperandNotReady", f"ClusterPolicy is not ready, operands not ready: {', '.join(waiting)}"
    elif not any(label.startswith(_NFD_PREFIX) for node in snapshot.of("Node") for label in labels_of(node)):
        reason, message = "NFDLabelsMissing", "No NFD labels found in the cluster, GPU nodes cannot be discovered"
    elif not nodes:
        reason, message = "NoGPUNodes", "No GPU node found, watching for new nodes to join the cluster."
    else:
        reason, message = "Reconciled", "ClusterPolicy is ready as all resources have been successfully reconciled"
    conditions = [
        _condition(
            policy, "Ready", "True" if ready else "False", reason if ready else "Error", "" if waiting else message, now
        ),
        _condition(
            policy, "Error", "False" if ready else "True", "Ready" if ready else reason, message if waiting else "", now
        ),
    ]
    return {"state": "ready" if ready else "notReady", "namespace": namespace, "conditions": conditions}


def _condition(policy: Document, kind: str, status: str, reason: str, message: str, now: str) -> Document:
    """A condition, with the time at which its status last changed."""
    old = next((c for c in (policy.get("status") or {}).get("conditions") or () if c["type"] == kind), None)
    since = old["lastTransitionTime"] if old and old["status"] == status else now
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since}
