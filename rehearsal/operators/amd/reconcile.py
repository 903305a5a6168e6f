"""AMD's GPU Operator: one function from the cluster that it sees to the cluster that DeviceConfigs require."""

from collections.abc import Sequence
from typing import Final

from rehearsal.operators.amd import kernel_module
from rehearsal.operators.amd.daemon_sets import READY_LABEL, daemon_sets, driven
from rehearsal.operators.plan import Document, Plan, Snapshot, labels_of, owned
from rehearsal.operators.workloads import available, counts

WATCHED: Final = ("Node", "Pod", "DaemonSet", "Deployment", "DeviceConfig")
_OPERATOR: Final = {"app.kubernetes.io/component": "amd-gpu", "control-plane": "controller-manager"}
_KMM: Final = {"app.kubernetes.io/component": "kmm", "control-plane": "controller"}
_FINALIZER: Final = "amd.node.kubernetes.io/deviceconfig-finalizer"
"""Finalizer of a DeviceConfig, which stays until the operator has cleaned up after it (ROCm/gpu-operator v1.5.1,
internal/controllers/device_config_reconciler.go).
"""
_DRIVER_LABEL: Final = "gpu.operator.amd.com/{namespace}.{name}.driver"
"""Label of the nodes of a DeviceConfig that requires a driver: the driver's type (the same release,
internal/utils.go).
"""
_PARTS: Final = {"devicePlugin": "device-plugin", "metricsExporter": "metrics-exporter"}


def reconcile(snapshot: Snapshot, *, now: str) -> Plan:
    """The operator's current plan; nothing while its own Deployment is not Available.

    now: the time, RFC 3339, for conditions that change.
    """
    plan = Plan()
    if not _runs(snapshot, _OPERATOR):
        return plan
    deleted = [one for one in snapshot.of("DeviceConfig") if "deletionTimestamp" in one["metadata"]]
    for config in deleted:
        _clean_up(plan, config, snapshot)
    configs = [one for one in snapshot.of("DeviceConfig") if "deletionTimestamp" not in one["metadata"]]
    for config in configs:
        nodes = _nodes(config, snapshot)
        finalizers = config["metadata"].get("finalizers") or []
        if _FINALIZER not in finalizers:
            plan.finalizers.append((config, [*finalizers, _FINALIZER]))
        if mistake := _mistake(config, nodes, configs, snapshot):
            plan.set_status(config, _status(config, snapshot, nodes, mistake, now))
            continue
        documents = [owned(made, config, namespace=config["metadata"]["namespace"]) for made in daemon_sets(config)]
        plan.include(documents, snapshot)
        names = {document["metadata"]["name"] for document in documents}
        plan.deletions.extend(_others(config, names, snapshot))
        driver = config["spec"].get("driver") or {}
        if driver.get("enable"):
            for node in nodes:
                plan.label(node, {_named(_DRIVER_LABEL, config): driver.get("driverType", "container")})
        if driven(config) and _runs(snapshot, _KMM):
            kernel_module.load(plan, snapshot, config, nodes)
        plan.set_status(config, _status(config, snapshot, nodes, None, now))
    return plan


def _clean_up(plan: Plan, config: Document, snapshot: Snapshot) -> None:
    """Take away what a DeviceConfig that is deleted has made, and then let it go."""
    left = _others(config, set(), snapshot)
    plan.deletions.extend(left)
    labels = (_named(_DRIVER_LABEL, config), _named(READY_LABEL, config))
    for node in snapshot.of("Node"):
        plan.label(node, {label: None for label in labels if label in labels_of(node)})
    finalizers = config["metadata"].get("finalizers") or []
    if not left and _FINALIZER in finalizers:
        plan.finalizers.append((config, [name for name in finalizers if name != _FINALIZER]))


def _named(label: str, config: Document) -> str:
    return label.format(namespace=config["metadata"]["namespace"], name=config["metadata"]["name"])


def _runs(snapshot: Snapshot, labels: dict[str, str]) -> bool:
    return any(available(deployment) for deployment in snapshot.of("Deployment", labels=labels))


def _nodes(config: Document, snapshot: Snapshot) -> list[Document]:
    selector = (config["spec"].get("selector") or {}).items()
    return [node for node in snapshot.of("Node") if selector <= labels_of(node).items()]


def _mistake(
    config: Document, nodes: Sequence[Document], configs: Sequence[Document], snapshot: Snapshot
) -> tuple[str, str] | None:
    """Reason and message of what keeps the operator from a DeviceConfig (internal/validator, internal/controllers)."""
    mine = {node["metadata"]["name"] for node in nodes}
    if not mine:
        return "NoMatchingNodes", f"no nodes found matching selector {config['spec'].get('selector') or {}}"
    for other in configs:
        both = mine & {node["metadata"]["name"] for node in _nodes(other, snapshot)}
        if other["metadata"]["uid"] != config["metadata"]["uid"] and both:
            name = other["metadata"]["name"]
            return "ValidationError", f"node {min(both)} is selected by DeviceConfig {name} too"
    return None


def _others(config: Document, names: set[str], snapshot: Snapshot) -> list[Document]:
    """The DaemonSets of a DeviceConfig that it no longer requires."""
    uid = config["metadata"]["uid"]
    return [
        daemon_set
        for daemon_set in snapshot.of("DaemonSet", namespace=config["metadata"]["namespace"])
        if daemon_set["metadata"]["name"] not in names
        and any(owner["uid"] == uid for owner in daemon_set["metadata"].get("ownerReferences") or ())
    ]


def _status(
    config: Document, snapshot: Snapshot, nodes: Sequence[Document], mistake: tuple[str, str] | None, now: str
) -> Document:
    """Ready as soon as the DaemonSets are requested, whatever becomes of their pods."""
    metadata = config["metadata"]
    status: Document = {"observedGeneration": metadata.get("generation", 0)}
    for key, part in _PARTS.items():
        daemon_set = snapshot.find("DaemonSet", f"{metadata['name']}-{part}", metadata["namespace"])
        desired, free, _ = (counts(daemon_set) if daemon_set is not None else None) or (0, 0, 0)
        numbers = {"nodesMatchingSelectorNumber": len(nodes), "desiredNumber": desired, "availableNumber": free}
        status[key] = numbers
    reason, message = mistake or ("OperatorReady", "")
    status["conditions"] = [
        _condition(config, "Ready", "False" if mistake else "True", reason, message, now),
        _condition(config, "Error", "True" if mistake else "False", reason, message, now),
    ]
    return status


def _condition(config: Document, kind: str, status: str, reason: str, message: str, now: str) -> Document:
    """A condition, with the time at which its status last changed."""
    old = next((c for c in (config.get("status") or {}).get("conditions") or () if c["type"] == kind), None)
    since = old["lastTransitionTime"] if old and old["status"] == status else now
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since}
