"""NVIDIA's DRA driver for GPUs: what its compute-domain controller makes of ComputeDomains.

As kubernetes-sigs/dra-driver-nvidia-gpu 9593204 (2026-08-07) does it: cmd/compute-domain-controller and templates/.
Here DaemonSet and templates lack a finalizer, and go at once with their ComputeDomain.
"""

from typing import Any, Final

from rehearsal.operators.plan import Document, Plan, Snapshot, labels_of, sealed
from rehearsal.operators.workloads import available, pod_ready

WATCHED: Final = (
    *("Node", "Pod", "DaemonSet", "Deployment"),
    *("ResourceClaimTemplate", "ComputeDomain", "ComputeDomainClique"),
)
LABEL: Final = "resource.nvidia.com/computeDomain"
"""Label of nodes and of the parts of a ComputeDomain: its UID. The finalizer has the same name."""
_TARGET: Final = "resource.nvidia.com/computeDomainTarget"
_CONTROLLER: Final = {"dra-driver-nvidia-gpu-component": "controller"}
_DRIVER: Final = "compute-domain.nvidia.com"
_API: Final = "resource.nvidia.com/v1beta1"
_TOLERATED: Final = [{"operator": "Exists", "effect": kind} for kind in ("NoSchedule", "NoExecute", "PreferNoSchedule")]


def reconcile(snapshot: Snapshot, *, now: str) -> Plan:
    """The controller's current plan; nothing while its own Deployment is not Available."""
    plan = Plan()
    controllers = [
        d for d in snapshot.of("Deployment") if _CONTROLLER.items() <= d["spec"]["selector"]["matchLabels"].items()
    ]
    controller = next((d for d in controllers if available(d)), None)
    if controller is None:
        return plan
    namespace = controller["metadata"]["namespace"]
    image = controller["spec"]["template"]["spec"]["containers"][0]["image"]
    for domain in snapshot.of("ComputeDomain"):
        if "deletionTimestamp" in domain["metadata"]:
            _take_down(plan, snapshot, domain)
        else:
            _bring_up(plan, snapshot, domain, namespace, image)
    return plan


def _bring_up(plan: Plan, snapshot: Snapshot, domain: Document, namespace: str, image: str) -> None:
    if LABEL not in (domain["metadata"].get("finalizers") or []):
        plan.finalizers.append((domain, [*(domain["metadata"].get("finalizers") or []), LABEL]))
    plan.include([sealed(document) for document in _documents(domain, namespace, image)], snapshot)
    nodes = _nodes(snapshot, domain["metadata"]["uid"])
    ready = len(nodes) >= domain["spec"].get("numNodes", 0) and all(node["status"] == "Ready" for node in nodes)
    status: Document = {"status": "Ready" if ready else "NotReady", **({"nodes": nodes} if nodes else {})}
    if domain.get("status") != status:
        plan.statuses.append((domain, status))


def _nodes(snapshot: Snapshot, uid: str) -> list[Document]:
    """The nodes whose daemons have entered a clique, and those without a clique whose daemon pods are there."""
    entries = [
        {"name": daemon["nodeName"], **{key: daemon[key] for key in ("ipAddress", "cliqueID", "index", "status")}}
        for clique in snapshot.of("ComputeDomainClique", labels={LABEL: uid})
        for daemon in clique.get("daemons") or []
    ]
    known = {entry["name"] for entry in entries}
    for pod in snapshot.of("Pod", labels={LABEL: uid}):
        node, address = pod["spec"].get("nodeName"), (pod.get("status") or {}).get("podIP")
        if node and address and node not in known and labels_of(pod).get(f"{LABEL}.cliqueID") == "":
            status = "Ready" if pod_ready(pod) else "NotReady"
            entries.append({"name": node, "ipAddress": address, "cliqueID": "", "index": -1, "status": status})
    return entries


def _documents(domain: Document, namespace: str, image: str) -> list[Document]:
    uid, mine = domain["metadata"]["uid"], domain["metadata"]
    template = domain["spec"]["channel"]["resourceClaimTemplate"]["name"]
    daemons = f"computedomain-daemon-{uid}"
    channel = {"kind": "ComputeDomainChannelConfig", "allocationMode": domain["spec"]["channel"]["allocationMode"]}
    return [
        _template(daemons, namespace, uid, "Daemon", "daemon", {"kind": "ComputeDomainDaemonConfig"}),
        _daemon_set(daemons, namespace, uid, image),
        _template(template, mine["namespace"], uid, "Workload", "channel", channel),
    ]


def _template(name: str, namespace: str, uid: str, target: str, request: str, config: dict[str, Any]) -> Document:
    device_class = f"compute-domain-{'daemon' if request == 'daemon' else 'default-channel'}.nvidia.com"
    parameters = {"apiVersion": _API, "domainID": uid, **config}
    devices = {
        "requests": [{"name": request, "exactly": {"deviceClassName": device_class}}],
        "config": [{"requests": [request], "opaque": {"driver": _DRIVER, "parameters": parameters}}],
    }
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": namespace, "labels": {LABEL: uid, _TARGET: target}},
        "spec": {"spec": {"devices": devices}},
    }


def _daemon_set(name: str, namespace: str, uid: str, image: str) -> Document:
    claim = "compute-domain-daemon"
    check = {"exec": {"command": ["compute-domain-daemon", "check"]}}
    container = {
        "name": claim,
        "image": image,
        "command": ["compute-domain-daemon", "run"],
        "resources": {"claims": [{"name": claim}]},
        "startupProbe": {**check, "periodSeconds": 1, "failureThreshold": 1200},
        "readinessProbe": check,
    }
    pod = {
        "serviceAccountName": "compute-domain-daemon-service-account",
        "nodeSelector": {LABEL: uid},
        "tolerations": _TOLERATED,
        "containers": [container],
        "resourceClaims": [{"name": claim, "resourceClaimTemplateName": name}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": namespace, "labels": {LABEL: uid}},
        "spec": {
            "selector": {"matchLabels": {LABEL: uid}},
            "template": {"metadata": {"labels": {LABEL: uid}}, "spec": pod},
        },
    }


def _take_down(plan: Plan, snapshot: Snapshot, domain: Document) -> None:
    """Templates first, then the daemons; the ComputeDomain goes when nothing of it is left."""
    uid = domain["metadata"]["uid"]
    left = [
        item
        for kind in ("ResourceClaimTemplate", "DaemonSet", "ComputeDomainClique")
        for item in snapshot.of(kind, labels={LABEL: uid})
    ]
    plan.deletions += [item for item in left if "deletionTimestamp" not in item["metadata"]]
    for node in snapshot.of("Node", labels={LABEL: uid}):
        plan.label(node, {LABEL: None})
    finalizers = domain["metadata"].get("finalizers") or []
    if not left and LABEL in finalizers:
        plan.finalizers.append((domain, [name for name in finalizers if name != LABEL]))
